package scrub

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// hostileForms are credentials in the forms in which programs and people write them into logs, and
// the part that must not leave the node.
func hostileForms() []hostileForm {
	std := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	tok := token()
	return []hostileForm{
		{"arguments of a probe, redis", `cmd=["redis-cli","-a","S3cretPw1","ping"]`, "S3cretPw1"},
		{"arguments of a probe, mysql", `cmd=["mysqladmin","-uroot","-pS3cretPw1","ping"]`, "S3cretPw1"},
		{"arguments of a probe, curl", `cmd=["curl","-u","admin:S3cretPw1","http://localhost"]`, "S3cretPw1"},
		{"arguments of a probe, a flag", `cmd=["app","--password","S3cretPw1"]`, "S3cretPw1"},
		{"bearer JWT", "Authorization: Bearer " + tok, tok[30:80]},
		{"bearer opaque short", "Authorization: Bearer abc123", "abc123"},
		{"bearer lower only", "bearer abcdefghijklmnopqrstuvwxyzabcdef", "abcdefghijklmnopqrstuvwxyzabcdef"},
		{"JWT url-encoded dots", strings.ReplaceAll(tok, ".", "%2E"), tok[60:120]},
		{"JWT split by log prefix", tok[:200] + "\nNov 19 20:07:31 node1 kubelet[812]: " + tok[200:], tok[210:300]},
		{"JWT split by escaped newline", tok[:200] + `\n` + tok[200:], tok[210:300]},
		{"JWT in Go byte slice", "[101 121 74 104 98 71 99 105 79 105 74 83 85 122 73 49 78 105]", "101 121 74 104"},
		{"kubeconfig token exec", "    token: k8s-aws-v1.aHR0cHM6Ly9zdHMuYW1hem9uYXdzLmNvbS8_QWN0aW9uPUdldENhbGxlcklkZW50aXR5", "aHR0cHM6Ly9zdHMu"},
		{"kubeconfig token Go struct", `&rest.Config{Host:"x", BearerToken:"abcDEF0123456789abcd"}`, "abcDEF0123456789abcd"},
		{"kubeconfig client-key-data", "client-key-data: " + std(pemKey("\n")), std(pemKey("\n"))[60:]},
		{"kubeconfig password", "  user:\n    password: S3cr3t!\n    username: admin", "S3cr3t!"},
		{"PEM EC", "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIFfakefakefake\n-----END EC PRIVATE KEY-----", "MHcCAQEEIF"},
		{"PEM in separate log lines each with a prefix", "I1119 -----BEGIN RSA PRIVATE KEY-----\nI1119 12:00:00 x.go:1] MIIEpAIBAAKCAQEAfakefakefake0123\nI1119 -----END RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA"},
		{"PEM body line alone", "MIIEpAIBAAKCAQEAzm1qfakefakefakefakefakefakefakefakefakefake0/9+", "MIIEpAIBAAKCAQEAzm1q"},
		{"AWS AKIA", "AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"},
		{"AWS secret env", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUt"},
		{"AWS secret, Go log", "SecretAccessKey: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUt"},
		{"AWS session", "AWS_SESSION_TOKEN=IQoJb3JpZ2luX2VjEJr//////////wEaCXVzLWVhc3QtMSJHMEUCIQ", "IQoJb3JpZ2luX2Vj"},
		{"AWS credentials: no key", "creds wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY used", "wJalrXUt"},
		{"AWS presigned", "https://b.s3.amazonaws.com/x?X-Amz-Credential=AKIAIOSFODNN7EXAMPLE&X-Amz-Signature=fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024&X-Amz-Security-Token=IQoJb3JpZ2luX2VjEJr", "fe5f80f77d5fa3be"},
		{"GCP key JSON", `"private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END PRIVATE KEY-----\n"`, "MIIEvQIBADANB"},
		{"GCP key id", `"private_key_id": "0123456789abcdef0123456789abcdef01234567"`, "0123456789abcdef0123"},
		{"GCP API key", "key=AIzaSyDfake0fake1fake2fake3fake4fake5f", "AIzaSyDfake0"},
		{"GCP ya29", "access_token ya29.a0AfH6SMBfakefakefakefake-fakefake_fake", "ya29.a0AfH6"},
		{"Azure storage conn", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;EndpointSuffix=core.windows.net", "Eby8vdM02x"},
		{"Azure SAS", "https://x.blob.core.windows.net/c?sv=2022-11-02&sig=Z%2FRHIX5Xcg0Mq2rqI3OlWTjEg2tYkboXr1P9ZUXDtkk%3D&se=2026", "RHIX5Xcg0Mq2"},
		{"Azure client secret", "AZURE_CLIENT_SECRET=abc8Q~fakefakefakefakefakefakefakefake", "abc8Q~fakefake"},
		{"Azure SharedAccessKey", "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=abcDEF0123456789abcDEF0123456789abcDEF01234=", "abcDEF0123456789"},
		{"basic URL", "https://admin:hunter2@etcd:2379", "hunter2"},
		{"basic URL short user only token", "https://ghp_abcdefghijklmnopqrstuvwxyz0123456789@github.com", "ghp_abcdefgh"},
		{"URL pw with slash", "postgres://app:p/ss@db/x", "p/ss"},
		{"URL pw with hash", "postgres://app:p#ssw0rd@db/x", "p#ssw0rd"},
		{"URL pw with question", "mysql://root:wh?t1@db", "wh?t1"},
		{"URL pw with brackets", "amqp://u:pa[ss]wd1@mq", "pa[ss]wd1"},
		{"mysql DSN", "root:S3cretPw@tcp(10.0.0.1:3306)/db", "S3cretPw"},
		{"pg DSN keyword", "host=db user=app password=S3cret! sslmode=disable", "S3cret!"},
		{"pg DSN pw with quote", "password='my s3cret pass' host=db", "s3cret pass"},
		{"pwd", "Server=db;Uid=sa;Pwd=S3cretPw1;", "S3cretPw1"},
		{"PGPASSFILE line", "db.example:5432:app:app:S3cretPw1", "S3cretPw1"},
		{"env pass", "DB_PASS=S3cretPw1", "S3cretPw1"},
		{"env pw", "REDIS_PW=S3cretPw1", "S3cretPw1"},
		{"env passphrase", "passphrase=S3cretPw1correct", "S3cretPw1"},
		{"redis requirepass", "redis-cli -a S3cretPw1 ping", "S3cretPw1"},
		{"mysql -p", "mysql -uroot -pS3cretPw1", "S3cretPw1"},
		{"curl -u", "curl -u admin:S3cretPw1 https://x", "S3cretPw1"},
		{"docker config", `{"auths":{"r.io":{"auth":"` + std("user:S3cretPw1") + `"}}}`, std("user:S3cretPw1")},
		{"docker config b64 (Secret)", ".dockerconfigjson: " + std(`{"auths":{"r.io":{"auth":"`+std("user:S3cretPw1")+`"}}}`), std(`{"auths":{"r.io":{"auth":"` + std("user:S3cretPw1") + `"}}}`)[20:60]},
		{"b64 Secret password", "data:\n  password: " + std("S3cretPw1"), std("S3cretPw1")},
		{"b64 Secret other key", "data:\n  db-dsn: " + std("postgres://app:S3cretPw1@db/x"), std("postgres://app:S3cretPw1@db/x")},
		{"Secret JSON last-applied", `{"kind":"Secret","data":{"tls.key":"` + std(pemKey("\n")) + `"}}`, std(pemKey("\n"))[60:]},
		{"client secret lower", `client_secret=abcdefghijklmnop`, "abcdefghijklmnop"},
		{"secret digits lower", `secret=abcdef0123456789xyz`, "abcdef0123456789xyz"},
		{"secret hex lower 32", `secret=0123456789abcdef0123456789abcdef`, "0123456789abcdef0123456789abcdef"},
		{"api_key short", `api_key=abc123DEF`, "abc123DEF"},
		{"X-Api-Key", `X-Api-Key: 0123456789abcdefghij`, "0123456789abcdefghij"},
		{"X-Auth-Token", `X-Auth-Token: gAAAAABfakefakefake0123`, "gAAAAABfake"},
		{"Cookie", `Cookie: session=abcDEF0123456789abcDEF01234`, "abcDEF0123456789"},
		{"Set-Cookie", `Set-Cookie: JSESSIONID=0123456789ABCDEF0123456789ABCDEF; Path=/`, "0123456789ABCDEF0123"},
		{"slack webhook", "https://hooks.slack.com/services/T00000000/B00000000/XXXXabcdXXXX1234XXXXabcd", "XXXXabcdXXXX1234"},
		{"slack token", "xoxb-123456789012-123456789012-abcdefABCDEF0123456789ab", "abcdefABCDEF0123"},
		{"github pat alone", "cloning with ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123", "ghp_abcdef"},
		{"gitlab pat", "glpat-abcDEF0123456789abcd", "glpat-abc"},
		{"vault token", "VAULT hvs.CAESIJfakefake0123456789fakefakefake", "hvs.CAESIJ"},
		{"vault env", "VAULT_TOKEN=hvs.CAESIJfakefake0123456789fakefakefake", "hvs.CAESIJ"},
		{"npm", "//registry.example.org/:_authToken=npm_abcDEF0123456789abcDEF0123456789abcd", "npm_abcDEF"},
		{"stripe", "sk_live_abcDEF0123456789abcDEF01", "sk_live_abc"},
		{"openssh key", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----", "b3BlbnNzaC1r"},
		{"age key", "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ", "1QQQQQQQQQQQQ"},
		{"wireguard", "PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=", "yAnz5TF"},
		{"Calico wireguard nothing", "wireguardKey", "nothing-here"},
		{"BGP password", "bgp password S3cretPw1", "S3cretPw1"},
		{"bgp password yaml", "  password:\n    secretKeyRef", "nothing-here"},
		{"bird conf", `  password "S3cretPw1";`, "S3cretPw1"},
		{"unicode escape", `{"pass\u0077ord":"S3cretPw1"}`, "S3cretPw1"},
		{"JSON escaped value", `{"password":"S3\u0063ret\"Pw1zzz"}`, `Pw1zzz`},
		{"password with comma", `password=abc,S3cretPw1`, "S3cretPw1"},
		{"password with semicolon", `password=abc;S3cretPw1`, "S3cretPw1"},
		{"password with &", `password="a&S3cretPw1"`, "S3cretPw1"},
		{"password short", `password=abc`, "=abc"},
		{"password sentence", `password: correcthorse battery`, "correcthorse"},
		{"Password is", `the password is S3cretPw1`, "S3cretPw1"},
		{"Chinese colon", `password：S3cretPw1`, "S3cretPw1"},
		{"密码", `密码=S3cretPw1`, "S3cretPw1"},
		{"env dump list", `env:[{Name:DB_PASSWORD Value:S3cretPw1 ValueFrom:nil}]`, "S3cretPw1"},
		{"env dump kubelet JSON", `{"name":"DB_PASSWORD","value":"S3cretPw1"}`, "S3cretPw1"},
		{"containerd spec dump env", `Envs:[]*v1.KeyValue{&KeyValue{Key:DB_PASSWORD,Value:S3cretPw1,},}`, "S3cretPw1"},
		{"kubelet container env", `"DB_PASSWORD" "S3cretPw1"`, "S3cretPw1"},
		{"CNI args", `CNI_ARGS=IgnoreUnknown=1;TOKEN=abcDEF0123456789abc`, "abcDEF0123456789abc"},
		{"calico etcd password", `ETCD_PASSWORD=S3cretPw1`, "S3cretPw1"},
		{"calico log etcd conf", `EtcdUsername:"root" EtcdPassword:"S3cretPw1"`, "S3cretPw1"},
		{"calico k8s api token", `K8sAPIToken:"abcDEF0123456789abc"`, "abcDEF0123456789abc"},
		{"zero width", "pass\u200bword=S3cretPw1", "S3cretPw1"},
		{"null byte inside", "password=S3cr\x00etPw1zz", "etPw1zz"},
		{"ANSI inside", "password=\x1b[1mS3cretPw1\x1b[0m", "S3cretPw1"},
	}
}

type hostileForm struct{ name, text, secret string }

// unrecognised are forms that nothing tells from ordinary text.
var unrecognised = map[string]bool{
	"JWT in Go byte slice": true, "AWS credentials: no key": true, "PGPASSFILE line": true, "unicode escape": true, "zero width": true,
}

// What leaves the node has none of the credentials that can be recognised.
func TestOutgoing(t *testing.T) {
	t.Parallel()
	forms, left := hostileForms(), 0
	for _, c := range forms {
		var got []string
		for line := range strings.SplitSeq(c.text, "\n") {
			got = append(got, string(Outgoing(nil, []byte(line))))
		}
		leaks := strings.Contains(strings.Join(got, "\n"), c.secret)
		if leaks {
			left++
		}
		if leaks != unrecognised[c.name] {
			t.Errorf("%s: leaks %t: %q", c.name, leaks, got)
		}
		if again := string(Outgoing(nil, []byte(got[0]))); again != got[0] {
			t.Errorf("%s: twice it is %q, once %q", c.name, again, got[0])
		}
	}
	if len(forms) < 90 || left > 12 {
		t.Errorf("%d of %d forms are not recognised", left, len(forms))
	}
}

// Lines that anybody may write, such as the answer of a pod's probe, cost little time.
func TestOutgoingIsQuick(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"token", "curl ", "mysql -", "://:", "password=", "key", "pass pass", "a=b,", "bearer ", `"auth":`} {
		line := []byte(strings.Repeat(word, (64<<10)/len(word)))
		began := time.Now() //nolint:forbidigo // it measures
		for range 10 {
			Outgoing(nil, line)
		}
		if took := time.Since(began); took > 20*time.Second { // 0.3 s on a quiet machine, minutes if it were quadratic
			t.Errorf("%q: %s", word, took)
		}
	}
}

// What the timeline reads stays: the recorded lines of all components are as they were, but for
// those that have a credential.
func TestOutgoingSparesRecordedLines(t *testing.T) {
	t.Parallel()
	lines, changed := 0, 0
	err := filepath.WalkDir("../timeline", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".log") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(b)) {
			line = strings.TrimRight(line, "\r\n")
			if lines++; String(line) == line && string(Outgoing(nil, []byte(line))) != line {
				if changed++; changed < 20 {
					t.Logf("%s: %s\nbecomes %s", path, line, Outgoing(nil, []byte(line)))
				}
			}
		}
		return nil
	})
	if err != nil || lines < 1000 || changed*1000 > lines {
		t.Errorf("%d of %d recorded lines change, %v", changed, lines, err)
	}
}

// The specification of a container is cut off, whatever is in it.
func TestOutgoingCutsSpecifications(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`E1119 20:07:31.1 1 kuberuntime_manager.go:1256] "Unhandled Error" err="container &Container{Name:db,Image:x,Env:[]EnvVar{EnvVar{Name:WHATEVER,Value:hush,ValueFrom:nil,},},} start failed in pod db-0_shop(u)"`,
		`level=debug msg="CreateContainer" config="&ContainerConfig{Metadata:x,Envs:[]*KeyValue{&KeyValue{Key:WHATEVER,Value:hush,},}}"`,
	} {
		got := string(Outgoing(nil, []byte(line)))
		if strings.Contains(got, "hush") || !strings.HasSuffix(got, specRemoved) || !strings.HasPrefix(got, line[:20]) {
			t.Error(got)
		}
	}
}

// A person's own pattern is applied too.
func TestOutgoingByPattern(t *testing.T) {
	t.Parallel()
	if got := string(Outgoing(nil, []byte("badge 4711-0815 of somebody"), regexp.MustCompile(`\d{4}-\d{4}`))); strings.Contains(got, "0815") || !strings.Contains(got, "by your pattern") {
		t.Error(got)
	}
}

// Ordinary lines of kubelet, containerd, Calico and the guard stay as they are.
func TestOutgoingSparesOrdinaryLines(t *testing.T) {
	t.Parallel()
	for _, line := range ordinaryLines {
		if got := string(Outgoing(nil, []byte(line))); got != line {
			t.Errorf("%s\nbecomes\n%s", line, got)
		}
	}
}

var ordinaryLines = []string{
	`2026-11-19 20:07:31.100 [INFO][4711] k8s.go 23: Configured environment: [CNI_COMMAND=ADD CNI_CONTAINERID=07665cfbc5c17929e3e1fd2ed522ebec181c4777e64cc780281ba3e032cc2af3 CNI_NETNS=/var/run/netns/cni-2b8e5882-5146-11e9-b3b3-525400dd6f19 CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=monitoring-prod2;K8S_POD_NAME=frontend-6c9f8b7d5-abcde;K8S_POD_INFRA_CONTAINER_ID=07665cfbc5c17929e3e1fd2ed522ebec181c4777e64cc780281ba3e032cc2af3;K8S_POD_UID=2b8e5882-5146-11e9-b3b3-525400dd6f19]`,
	`I1119 20:07:31.100000 812 kubelet.go:2430] "SyncLoop ADD" source="api" pods=["shop/db-0"]`,
	`E1119 20:07:31.1 812 pod_workers.go:1301] "Error syncing pod, skipping" err="failed to \"KillPodSandbox\" for \"a90d1cbc-9299-ef85-c349-fe4f790432a3\" with KillPodSandboxError: \"rpc error: code = Unknown desc = failed to destroy network for sandbox \\\"07665cfbc5c17929e3e1fd2ed522ebec181c4777e64cc780281ba3e032cc2af3\\\": plugin type=\\\"calico\\\" failed (delete): error getting ClusterInformation: connection is unauthorized: Unauthorized\"" pod="shop/etcd1-0" podUID="a90d1cbc-9299-ef85-c349-fe4f790432a3"`,
	`time="2026-11-19T20:07:31.100000000Z" level=info msg="StopPodSandbox for \"07665cfbc5c17929e3e1fd2ed522ebec181c4777e64cc780281ba3e032cc2af3\""`,
	`2026-11-19 20:07:31.100 [INFO][4711] cni-plugin/k8s.go 639: Teardown processing complete. ContainerID="07665cfbc5c17929e3e1fd2ed522ebec181c4777e64cc780281ba3e032cc2af3" HandleID="k8s-pod-network.07665cfbc5c17929e3e1fd2ed522ebec181c4777e64cc780281ba3e032cc2af3" Workload="node1-k8s-etcd1--0-eth0"`,
	`MountVolume.SetUp failed for volume "kube-api-access-x7k2p" : failed to fetch token: serviceaccounts "default" not found`,
	`MountVolume.SetUp failed for volume "certs" : secret "db-certs" not found`,
	`Failed to pull image "registry.k8s.io/pause:3.10@sha256:ee6521f290b2168b6e0935a181d4cff9be1ac3f505666ef0e3c98fae8199917a": rpc error`,
	`pulling docker://registry.example.com:5000/team/app@sha256:ee6521f290b2168b6e0935a181d4cff9be1ac3f505666ef0e3c98fae8199917a`,
	`Unmounted /var/lib/kubelet/pods/2b8e5882-5146-11e9-b3b3-525400dd6f19/volumes/kubernetes.io~secret/default-token-x7k2p`,
	`failed to renew lease kube-node-lease/node1: Put "https://10.0.0.1:6443/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node1?timeout=10s": context deadline exceeded`,
	`[ERROR] Unable to authenticate the request: invalid bearer token, service account token has expired`,
	`cni-ipam: released address 10.244.8.34 of handle k8s-pod-network.41857f70aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`,
	`felix/int_dataplane.go 1899: Applying dataplane updates key=WorkloadEndpoint(node=node1, orchestrator=k8s, workload=shop/db-0, name=eth0)`,
}

func FuzzOutgoing(f *testing.F) {
	for _, c := range hostileForms() {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if once := Outgoing(nil, []byte(text)); len(once) > 64*len(text)+256 {
			t.Errorf("%d bytes become %d", len(text), len(once))
		}
	})
}

func BenchmarkOutgoing(b *testing.B) {
	n := 0
	for _, line := range ordinaryLines {
		n += len(line)
	}
	b.SetBytes(int64(n))
	for b.Loop() {
		for _, line := range ordinaryLines {
			Outgoing(nil, []byte(line))
		}
	}
}
