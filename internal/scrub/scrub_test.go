package scrub

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"
)

// Nothing here is a secret of anyone's: heads and claims are made up, and the rest is
// letters in a row.
func token() string {
	coded := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return coded(`{"alg":"RS256","kid":"none"}`) + "." + coded(`{"iss":"kubernetes/serviceaccount","sub":"system:serviceaccount:demo:default"}`) + "." + strings.Repeat("Sig-nature_0", 29)[:342]
}

func pemKey(newline string) string {
	lines := []string{"-----BEGIN RSA PRIVATE KEY-----", strings.Repeat("MIIEfake", 8), strings.Repeat("0/9+fake", 8), "Zm9v==", "-----END RSA PRIVATE KEY-----"}
	return strings.Join(lines, newline)
}

func broken(s string, width int, indent string) string {
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + "\n" + indent)
		s = s[width:]
	}
	b.WriteString(s)
	return b.String()
}

func TestFind(t *testing.T) {
	t.Parallel()
	tok := token()
	head, rest, _ := strings.Cut(tok, ".")
	claims, _, _ := strings.Cut(rest, ".")
	std := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for name, c := range map[string]struct {
		text string
		kind string
		gone []string // none of which may be left
		kept string   // which must be left
	}{
		"token":                   {"K8S_API_TOKEN=" + tok + `]"`, "JWT", []string{tok, head, claims}, `]"`},
		"token alone":             {tok, "JWT", []string{claims}, ""},
		"token, key broken":       {"K8S\n\t_API_TO\n\tKEN=" + tok + `]" x`, "JWT", []string{claims}, `]" x`},
		"token wrapped":           {"a=" + broken(tok, 40, "\t\t") + "]", "JWT", []string{tok[:40], tok[41:80], tok[200:239]}, "]"},
		"token wrapped in eyJ":    {"a=" + broken(tok, 2, "  ") + "]", "JWT", []string{"Sig"[:2]}, "]"},
		"token, CR LF":            {"a=" + strings.ReplaceAll(broken(tok, 50, " "), "\n", "\r\n") + "]", "JWT", []string{tok[51:99]}, "]"},
		"head only":               {"a " + head[:20], "JWT", []string{head[:20]}, "a "},
		"head and dot":            {"a " + head + ".", "JWT", []string{head}, "a "},
		"claims only":             {"xyz." + claims + ".abc", "JWT", []string{claims}, "xyz."},
		"cut in claims":           {tok[:len(head)+9], "JWT", []string{head}, ""},
		"complete at line's end":  {tok + "\nDec 12 20:21:27 x", "JWT", []string{claims}, "\nDec 12 20:21:27 x"},
		"token in a Secret":       {`"token":"` + std(tok) + `"`, "JWT", []string{std(tok)[:60]}, `"token":"`},
		"registry":                {"auth " + std(`{"auths":{"r.io":{"auth":"eDp5"}}}`), "JWT", []string{std(`{"auths":{"r.io":{"a`)}, "auth "},
		"PEM":                     {"x " + pemKey("\n") + " y", "PEM private key", []string{"MIIEfake", "0/9+", "Zm9v"}, " y"},
		"PEM escaped":             {`{"key":"` + pemKey(`\n`) + `"}`, "PEM private key", []string{"MIIEfake", "0/9+", "Zm9v"}, `"}`},
		"PEM escaped twice":       {`{"key":"` + pemKey(`\\n`) + `"}`, "PEM private key", []string{"MIIEfake", "0/9+", "Zm9v"}, `"}`},
		"PEM cut at its end":      {`key "` + pemKey(`\n`)[:100] + `" x`, "PEM private key", []string{"MIIEfake"}, `" x`},
		"PEM cut at its head":     {`"` + pemKey(`\n`)[40:] + `" x`, "PEM private key", []string{"fake", "0/9+"}, `" x`},
		"PEM coded":               {"client-key-data: " + std(pemKey("\n")) + "\nuser", "PEM private key", []string{std(pemKey("\n"))[:50], std(pemKey("\n"))[51:]}, "client-key-data: "},
		"bearer":                  {"Authorization: Bearer x", "bearer token", []string{" x"}, "Authorization: Bearer "},
		"bearer, Go's headers":    {`Headers:map[Authorization:[Bearer abc]]`, "bearer token", []string{"abc"}, `]]`},
		"bearer, JSON":            {`{"authorization": ["bearer abc.def"], "x": 1}`, "bearer token", []string{"abc.def"}, `], "x": 1}`},
		"bearer alone":            {`curl -H bearer abcdef0123456789ABCDEF x`, "bearer token", []string{"abcdef0123456789"}, ` x`},
		"authorization, no name":  {`Authorization: abcdef0123456789ABCDEF x`, "bearer token", []string{"abcdef0123456789"}, ` x`},
		"basic":                   {"Authorization: Basic eDp5", "basic auth", []string{"eDp5"}, "Basic "},
		"basic alone":             {"proxy said basic " + std("user:letmein") + " no", "basic auth", []string{std("user:letmein")}, " no"},
		"URL":                     {`dial "https://admin:hunter2@10.0.0.1:2379/x"`, "password in a URL", []string{"hunter2"}, `@10.0.0.1:2379/x"`},
		"URL, @ in it":            {`https://admin:h@nter2@etcd/x`, "password in a URL", []string{"nter2"}, `@etcd/x`},
		"URL, no user":            {`redis://:hunter2@r`, "password in a URL", []string{"hunter2"}, `@r`},
		"URL, broken":             {"https://admin:hun\n\tter2@etcd/x", "password in a URL", []string{"hun", "ter2"}, `@etcd/x`},
		"URL, cut at its @":       {`https://admin:hunter2@`, "password in a URL", []string{"hunter2"}, `@`},
		"URL, token":              {`https://ghp0aAbBcCdDeEfF0123456789@git.example/x`, "password in a URL", []string{"ghp0aAbBcCd"}, `@git.example/x`},
		"AWS":                     {"id AKIAIOSFODNN7EXAMPLE used", "AWS key", []string{"IOSFODNN7"}, " used"},
		"AWS, session":            {"id=ASIAIOSFODNN7EXAMPLE", "AWS key", []string{"IOSFODNN7"}, "id="},
		"AWS secret":              {"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", keyKind, []string{"wJalr", "bPxRfi"}, "access_key = "},
		"opaque token":            {`--token=abcdefgh01234567 x`, keyKind, []string{"abcdefgh01234567"}, " x"},
		"opaque token, YAML":      {"token: abcdefgh01234567\n", keyKind, []string{"abcdefgh01234567"}, "token: "},
		"bootstrap":               {`kubeadm join --token abcdef.0123456789abcdef x`, keyKind, []string{"0123456789abcdef"}, " x"},
		"secret":                  {`clientSecret="aB3" secret="aB3dE6gH9jK2mN5p" x`, keyKind, []string{"aB3dE6gH9jK2mN5p"}, `" x`},
		"API key, escaped":        {`{\"api-key\":\"aB3dE6gH9jK2mN5p\"}`, keyKind, []string{"aB3dE6gH9jK2mN5p"}, `\"}`},
		"password":                {`PASSWORD=hunter2 x`, "password", []string{"hunter2"}, " x"},
		"password, JSON":          {`{"password":"correct"}`, "password", []string{"correct"}, `"}`},
		"password, YAML":          {"passwd: correcthorse", "password", []string{"correct"}, "passwd: "},
		"junk around":             {"\xff\xfe\x00" + tok + "\xc3\x28", "JWT", []string{claims}, "\xc3\x28"},
		"escape before":           {"\x1b[31m" + tok + "\x1b[0m", "JWT", []string{claims}, "\x1b[0m"},
		"continued JSON, its dot": {"eyJ2IjoibWV0YS5rOHMuaW8vdjEi.eyJpc3Mi.x", "JWT", []string{"eyJpc3Mi"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kinds := Find([]byte(c.text))
			if !slices.Contains(kinds, c.kind) {
				t.Errorf("found %q, want %q", kinds, c.kind)
			}
			for pad := range 9 { // wherever it stands
				if got := Find([]byte(strings.Repeat(" ", pad) + c.text)); !slices.Equal(got, kinds) {
					t.Errorf("found %q after %d spaces, %q without", got, pad, kinds)
				}
			}
			clean := String(c.text)
			for _, g := range c.gone {
				if strings.Contains(clean, g) {
					t.Errorf("%q is left in %q", g, clean)
				}
			}
			if !strings.Contains(clean, c.kept) || !strings.Contains(clean, "[credential removed: "+c.kind+"]") {
				t.Errorf("made it %q", clean)
			}
			if again := String(clean); again != clean {
				t.Errorf("twice is %q, once %q", again, clean)
			}
		})
	}
}

func TestNoFalseAlarm(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"",
		"CNI_CONTAINERID=94feeebc95fbcf081f75bdc9bad7a97e74903e847a80b51bf89a6fadafc3ae21 CNI_NETNS= CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=lijiaob",
		"ETCD_KEY_FILE=/etc/kubernetes/pki/client-key.pem ETCD_CERT_FILE=/etc/kubernetes/pki/client.pem KUBECONFIG=/etc/kubernetes/kubelet.conf]",
		"--client-key=/etc/kubernetes/pki/apiserver-Etcd1/client.key --token-auth-file=/etc/x",
		"imageID: docker-pullable://nginx:1.13@sha256:94feeebc95fbcf081f75bdc9bad7a97e74903e847a80b51bf89a6fadafc3ae21",
		"registry.k8s.io/pause:3.9@sha256:94feeebc95fbcf081f75bdc9bad7a97e74903e847a80b51bf89a6fadafc3ae21",
		`secret "kube-system/calico-node-token-7xk2p" secret=kube-system/bootstrap-token-abc123`,
		`secret="kube-system/calico-config-0123456789abcdef"`,
		`"uid":"f8d1e7d4-df36-11e7-9d36-5254b24cbf5e","resourceVersion":"72540944","secretName":"aB3dE6gH9jK2mN5p"`,
		"continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTIzLCJzdGFydCI6ImRlZmF1bHQifQ",
		"certificate-authority-data: " + base64.StdEncoding.EncodeToString([]byte("-----BEGIN CERTIFICATE-----\nMIIEfakefakefakefakefakefake\n-----END CERTIFICATE-----")),
		"-----BEGIN CERTIFICATE-----\\nMIIE\\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\\nMIIE\\n-----END PUBLIC KEY-----",
		"Authorization: Bearer <masked>", "Authorization: Bearer [REDACTED]", "https://admin:xxxxx@etcd:2379/", "https://admin:***@etcd", "password=xxxxx", "password=<redacted>", "password: required",
		"invalid password: must be longer", "no token: unknown authority", "token=", "basic information about authentication", "bearer authentication is deprecated12345",
		"authorization.k8s.io/decision: allow; authorization mode: Node,RBAC", `"authorization.k8s.io/reason":"RBAC: allowed by ClusterRoleBinding \"calico-cni-plugin\" of ClusterRole"`,
		"mail to someone@example.com via http://10.0.0.1:8080/x?y=z@w", "rpc://[::1]:8080 a@b",
		`flags.go:64] FLAG: --storage-driver-password="root"`,
		"eyJ", "eyJhbGci", "AKIAIOSFODNN7EXAMPLE0", "xAKIAIOSFODNN7EXAMPLE", "AKIA",
		"Dec 13 10:27:49 dev-slave-107 kubelet[15567]: time=\"2017-12-13T10:27:49+08:00\" level=info msg=\"Get Key: /calico/ipam/v2/handle/lijiaob.stateful-new-pod-0\"",
	} {
		if kinds := Find([]byte(line)); kinds != nil {
			t.Errorf("found %q in %q", kinds, line)
		}
		if got := String(line); got != line {
			t.Errorf("%q became %q", line, got)
		}
	}
}

// A long line of what looks like the beginning of a credential, again and again, must be
// looked at in proportion to its length.
func TestLongLines(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{
		"eyJ", "eyJh", "eyJhIjoi", "eyJ.", "ZXlK", "ZXlKaGJH", "LS0tLS1CRUdJTi", "AKIA", "ASIA", "a:@", "@", "://", "://a@", "token=", "token:", "tokentoken", "bearer-", "bearer ", "basic-",
		"Authorization: ", "authorization:bearer", "password:", "password=credential", "password: ", "secret=", "api_key", "-----END", "PRIVATE KEY-----", "-----BEGIN ", "k\n", "\n ", " k", "to\n  ken=",
	} {
		for _, end := range []string{" ", "\n"} {
			begin := time.Now() //nolint:forbidigo // how long it takes is what is tested
			appendMasked(nil, []byte(strings.Repeat(piece, 256<<10/len(piece))+end))
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("256 KiB of %q took %v", piece, took)
			}
		}
	}
}

func TestFindKinds(t *testing.T) {
	t.Parallel()
	text := []byte("password=hunter2 " + token() + " password=hunter3 AKIAIOSFODNN7EXAMPLE")
	if got, want := Find(text), []string{"password", "JWT", "AWS key"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if got := string(appendMasked([]byte("before "), []byte("password=hunter2"))); got != "before password=[credential removed: password]" {
		t.Errorf("made it %q", got)
	}
}

func TestCleanAllocatesNothing(t *testing.T) {
	line := []byte(clean)
	if n := testing.AllocsPerRun(100, func() { Find(line) }); n != 0 {
		t.Errorf("%v allocations for a clean line", n)
	}
	room := make([]byte, 0, len(line))
	if n := testing.AllocsPerRun(100, func() { appendMasked(room, line) }); n != 0 {
		t.Errorf("%v allocations for a clean copy", n)
	}
}

const clean = `2025-11-15 10:32:04.670 [INFO][365] cni-plugin/k8s.go 74: Extracted identifiers for CmdAddK8s ContainerID="94feeebc95fbcf081f75bdc9bad7a97e74903e847a80b51bf89a6fadafc3ae21" Namespace="shop" Pod="db-0" WorkloadEndpoint="node1-k8s-db--0-eth0"`

func BenchmarkFindClean(b *testing.B) {
	line := []byte(clean)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		Find(line)
	}
}

func BenchmarkBytesToken(b *testing.B) {
	line := []byte("K8S_API_TOKEN=" + token() + "]")
	room := make([]byte, 0, 2*len(line))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		appendMasked(room, line)
	}
}

func FuzzBytes(f *testing.F) {
	for _, s := range []string{
		token(), broken(token(), 30, " "), pemKey("\n"), pemKey(`\n`), pemKey("\n")[:80], "https://a:b@c@d e", "Authorization: Basic eDp5", "password=hunter2\n x: y",
		"token: aB3dE6gH9jK2mN5p==", "AKIAIOSFODNN7EXAMPLE", "bearer abcdef0123456789ABCDEF", "\xff\xfe", "secret:\"password=eyJhbGciOiJSUzI1NiIsInR5c", "-----BEGIN -----END PRIVATE KEY-----",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		kept := slices.Clone(text)
		once := appendMasked(nil, text)
		if !slices.Equal(kept, text) {
			t.Fatalf("the text given was changed")
		}
		if kinds := Find(once); kinds != nil {
			t.Fatalf("%q still found in %q, of %q", kinds, once, text)
		}
		if twice := appendMasked(nil, once); !slices.Equal(once, twice) {
			t.Fatalf("twice %q, once %q", twice, once)
		}
		if !wrapped(text) { // the short look finds what the long one does
			long, one := next(text, 0, true)
			short, other := next(text, 0, false)
			if one != other || long != short {
				t.Fatalf("the long look finds %v, the short one %v in %q", long, short, text)
			}
		}
		if clean := Find(text) == nil; clean != slices.Equal(once, text) {
			t.Fatalf("clean is %v, but %q became %q", clean, text, once)
		}
	})
}
