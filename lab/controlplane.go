package lab

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"

	"plumbline.dev/plumbline/lab/supervise"
)

// credentials creates the cluster's CA, its certificates and the kubeconfigs of all
// users that are not service accounts.
func (l *Lab) credentials() error {
	ca, err := newAuthority(filepath.Join(stateDir, "pki"), "plumbline-lab")
	if err != nil {
		return err
	}
	if err := newSigningKey(ca.dir); err != nil {
		return err
	}
	ids := map[string]identity{
		"apiserver": {
			user: "kube-apiserver",
			dns:  []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
			ips: []netip.Addr{
				netip.MustParseAddr("127.0.0.1"), controlPlane4, controlPlane6,
				netip.MustParsePrefix(serviceCIDR4).Addr().Next(), netip.MustParsePrefix(serviceCIDR6).Addr().Next(),
			},
		},
		"kubelet-client":     {user: "kube-apiserver-kubelet-client", groups: []string{"system:masters"}},
		"admin":              {user: "lab-admin", groups: []string{"system:masters"}},
		"controller-manager": {user: "system:kube-controller-manager"},
		"scheduler":          {user: "system:kube-scheduler"},
		"kube-proxy":         {user: "system:kube-proxy"},
	}
	for name, id := range ids {
		if err := ca.sign(name, id); err != nil {
			return err
		}
	}
	for _, name := range []string{"admin", "controller-manager", "scheduler", "kube-proxy"} {
		if err := l.writeKubeconfig(ca, name); err != nil {
			return err
		}
	}
	if l.Datastore != Etcd {
		return nil
	}
	// A separate CA: a user of Calico's etcd is identified by a certificate's name, and no
	// certificate of Kubernetes may be accepted as one.
	eca, err := newAuthority(filepath.Join(stateDir, "etcd-pki"), "plumbline-lab-etcd")
	if err != nil {
		return err
	}
	for _, user := range []string{"root", "calico", "read-only"} {
		if err := eca.sign(user, identity{user: user}); err != nil {
			return err
		}
	}
	return eca.sign("server", identity{user: "etcd", ips: []netip.Addr{controlPlane4}})
}

func (l *Lab) writeKubeconfig(ca *authority, name string) error {
	cred, err := ca.clientCert(name)
	if err != nil {
		return err
	}
	crt, err := os.ReadFile(ca.path("ca.crt"))
	if err != nil {
		return err
	}
	dir := filepath.Join(stateDir, "kubeconfig")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".conf"), []byte(kubeconfig(l.server(), crt, cred)), 0o600)
}

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  verbs: [create, update, patch, delete, deletecollection]
  resources: [{group: crd.projectcalico.org}, {group: "", resources: [pods, pods/status, nodes]}]
- level: Metadata
`

func (l *Lab) startEtcd(ctx context.Context) error {
	return l.start(ctx, "etcd", l.Bin("etcd", "etcd"), "--name=kubernetes", "--data-dir="+stateDir+"/etcd",
		"--listen-client-urls="+l.KubernetesEtcd(), "--advertise-client-urls="+l.KubernetesEtcd(),
		"--listen-peer-urls=http://127.0.0.1:2380", "--initial-advertise-peer-urls=http://127.0.0.1:2380",
		"--initial-cluster=kubernetes=http://127.0.0.1:2380", "--unsafe-no-fsync", "--quota-backend-bytes=8589934592")
}

func (l *Lab) startAPIServer(ctx context.Context) error {
	policy := filepath.Join(stateDir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o644); err != nil {
		return err
	}
	services := serviceCIDR4
	if l.DualStack {
		services += "," + serviceCIDR6
	}
	pki := filepath.Join(stateDir, "pki") + "/"
	err := l.start(ctx, "kube-apiserver", l.Bin("kubernetes", "kube-apiserver"),
		"--etcd-servers="+l.KubernetesEtcd(), "--bind-address="+controlPlane4.String(), fmt.Sprintf("--secure-port=%d", apiPort),
		"--advertise-address="+controlPlane4.String(), "--service-cluster-ip-range="+services,
		"--tls-cert-file="+pki+"apiserver.crt", "--tls-private-key-file="+pki+"apiserver.key", "--client-ca-file="+pki+"ca.crt",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-signing-key-file="+pki+"sa.key", "--service-account-key-file="+pki+"sa.pub",
		"--kubelet-client-certificate="+pki+"kubelet-client.crt", "--kubelet-client-key="+pki+"kubelet-client.key", "--kubelet-certificate-authority="+pki+"ca.crt",
		"--kubelet-preferred-address-types=InternalIP", "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
		"--audit-policy-file="+policy, "--audit-log-path="+l.AuditLog(), "--audit-log-maxsize=100", "--audit-log-maxbackup=2",
		"--default-not-ready-toleration-seconds=15", "--default-unreachable-toleration-seconds=15",
		"--cert-dir="+stateDir+"/apiserver")
	if err != nil {
		return err
	}
	return l.await(ctx, "kube-apiserver", func(ctx context.Context) error {
		_, err := l.Do(ctx, http.MethodGet, "/readyz", "")
		return err
	})
}

func (l *Lab) startControllers(ctx context.Context) error {
	kc := filepath.Join(stateDir, "kubeconfig") + "/"
	err := l.start(ctx, "kube-controller-manager", l.Bin("kubernetes", "kube-controller-manager"),
		"--kubeconfig="+kc+"controller-manager.conf", "--service-account-private-key-file="+stateDir+"/pki/sa.key", "--root-ca-file="+stateDir+"/pki/ca.crt",
		"--use-service-account-credentials", "--leader-elect=false", "--bind-address=127.0.0.1", "--cert-dir="+stateDir+"/controller-manager",
		"--node-monitor-grace-period="+l.grace(), "--node-monitor-period=2s")
	if err != nil {
		return err
	}
	return l.start(ctx, "kube-scheduler", l.Bin("kubernetes", "kube-scheduler"),
		"--kubeconfig="+kc+"scheduler.conf", "--leader-elect=false", "--bind-address=127.0.0.1", "--cert-dir="+stateDir+"/scheduler")
}

// grace is how long a node may be silent. An emulated machine is slow.
func (l *Lab) grace() string {
	if l.Machines > 0 {
		return "60s"
	}
	return "20s"
}

// start runs a part in the outer namespaces.
func (l *Lab) start(ctx context.Context, name string, argv ...string) error {
	_, err := l.sup.Start(ctx, supervise.Part{Name: name, Argv: argv, Env: baseEnv(), Log: filepath.Join(stateDir, "log", name+".log")})
	return err
}

func baseEnv() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=/root"} }
