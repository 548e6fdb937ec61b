package lab

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab/supervise"
)

// KubeControllers is calico-kube-controllers, which includes the IPAM garbage collector.
const KubeControllers = "calico-kube-controllers"

// startCalicoEtcd runs Calico's etcd: with TLS, and three users, identified by the name
// in their certificate. root is for people, calico for Calico's components, read-only
// for readers.
func (l *Lab) startCalicoEtcd(ctx context.Context) error {
	pki := filepath.Join(stateDir, "etcd-pki") + "/"
	err := l.start(ctx, "calico-etcd", l.Bin("etcd", "etcd"), "--name=calico", "--data-dir="+stateDir+"/calico-etcd",
		"--listen-client-urls="+l.EtcdEndpoint(), "--advertise-client-urls="+l.EtcdEndpoint(),
		"--cert-file="+pki+"server.crt", "--key-file="+pki+"server.key", "--trusted-ca-file="+pki+"ca.crt", "--client-cert-auth",
		"--listen-peer-urls=http://127.0.0.1:12380", "--initial-advertise-peer-urls=http://127.0.0.1:12380",
		"--initial-cluster=calico=http://127.0.0.1:12380", "--unsafe-no-fsync")
	if err != nil {
		return err
	}
	err = l.await(ctx, "calico-etcd", func(ctx context.Context) error {
		_, err := l.Etcdctl(ctx, "root", "endpoint", "health")
		return err
	})
	if err != nil {
		return err
	}
	for _, cmd := range []string{
		"user add root --no-password", "role add root", "user grant-role root root",
		"role add calico", "role grant-permission calico --prefix=true readwrite /calico/",
		"user add calico --no-password", "user grant-role calico calico",
		"role add read-only", "role grant-permission read-only --prefix=true read /calico/",
		"user add read-only --no-password", "user grant-role read-only read-only",
		"auth enable",
	} {
		if _, err := l.Etcdctl(ctx, "root", strings.Fields(cmd)...); err != nil {
			return err
		}
	}
	return nil
}

// installCalico creates the service accounts, the RBAC roles and, for KDD, the CRDs, all
// as Calico ships them.
func (l *Lab) installCalico(ctx context.Context) error {
	if _, err := l.Kubectl(ctx, "apply", "--server-side", "-f", l.Bin("calico", string(l.Datastore)+".yaml")); err != nil {
		return err
	}
	if l.Datastore == Etcd {
		return nil
	}
	return l.await(ctx, "kube-apiserver", l.definitionsReady)
}

// definitionsReady returns nil if the API server serves every CRD. An established CRD
// may still be refused for a moment, with a 429, while the server fills its cache.
func (l *Lab) definitionsReady(ctx context.Context) error {
	var list struct {
		Items []struct {
			Spec struct {
				Group    string
				Names    struct{ Plural string }
				Versions []struct{ Name string }
			}
		}
	}
	if err := l.Get(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &list); err != nil {
		return err
	}
	for _, d := range list.Items {
		path := fmt.Sprintf("/apis/%s/%s/%s?limit=1", d.Spec.Group, d.Spec.Versions[0].Name, d.Spec.Names.Plural)
		if _, err := l.Do(ctx, http.MethodGet, path, ""); err != nil {
			return err
		}
	}
	return nil
}

// tokenKubeconfig returns a kubeconfig of one of Calico's service accounts.
func (l *Lab) tokenKubeconfig(ctx context.Context, account string) (string, error) {
	token, err := l.Kubectl(ctx, "-n", "kube-system", "create", "token", account, "--duration=168h")
	if err != nil {
		return "", err
	}
	ca, err := os.ReadFile(filepath.Join(stateDir, "pki", "ca.crt"))
	if err != nil {
		return "", err
	}
	return kubeconfig(l.server(), ca, tokenCredential(strings.TrimSpace(token))), nil
}

func (l *Lab) startKubeControllers(ctx context.Context) error {
	text, err := l.tokenKubeconfig(ctx, KubeControllers)
	if err != nil {
		return err
	}
	kc := filepath.Join(stateDir, "kubeconfig", KubeControllers+".conf")
	if err := os.WriteFile(kc, []byte(text), 0o600); err != nil {
		return err
	}
	controllers := "node"
	if l.Has(LoadBalancers) {
		controllers += ",loadbalancer"
	}
	if l.Datastore == Etcd {
		controllers = "policy,namespace,serviceaccount,workloadendpoint,node"
	}
	env := append(baseEnv(), "KUBECONFIG="+kc, "ENABLED_CONTROLLERS="+controllers, "LOG_LEVEL=info")
	_, err = l.sup.Start(ctx, supervise.Part{
		Name: KubeControllers, Argv: []string{l.Bin("calico", KubeControllers)}, Env: append(env, l.datastoreEnv(l.EtcdCerts("calico"))...),
		Log: filepath.Join(stateDir, "log", KubeControllers+".log"), RestartOn: []int{supervise.AnyExit},
	})
	return err
}

// datastoreEnv returns the environment that configures the datastore of a Calico
// component.
func (l *Lab) datastoreEnv(ca, crt, key string) []string {
	if l.Datastore == KDD {
		return []string{"DATASTORE_TYPE=kubernetes"}
	}
	return []string{
		"DATASTORE_TYPE=etcdv3", "ETCD_ENDPOINTS=" + l.EtcdEndpoint(),
		"ETCD_CA_CERT_FILE=" + ca, "ETCD_CERT_FILE=" + crt, "ETCD_KEY_FILE=" + key,
	}
}

// Where Calico's credentials are on a node.
const (
	nodeEtcdCA   = "/etc/cni/net.d/calico-tls/etcd-ca"
	nodeEtcdCert = "/etc/cni/net.d/calico-tls/etcd-cert"
	nodeEtcdKey  = "/etc/cni/net.d/calico-tls/etcd-key"
	cniKube      = "/etc/cni/net.d/calico-kubeconfig"
	calicoKube   = "/etc/calico/kubeconfig"
)

// installCNI installs the plugins and their configuration on the node, as Calico's
// install-cni container does.
func (n *Node) installCNI(ctx context.Context) error {
	l := n.lab
	for name, from := range map[string][2]string{
		"calico": {"calico", "calico"}, "calico-ipam": {"calico", "calico"},
		"loopback": {"cni", "loopback"}, "portmap": {"cni", "portmap"}, "bandwidth": {"cni", "bandwidth"},
	} {
		if err := n.Install(ctx, from[0], from[1], "/opt/cni/bin/"+name); err != nil {
			return fmt.Errorf("install CNI plugin on %s: %w", n.Name, err)
		}
	}
	if l.Datastore == Etcd {
		ca, crt, key := l.EtcdCerts("calico")
		for to, from := range map[string]string{nodeEtcdCA: ca, nodeEtcdCert: crt, nodeEtcdKey: key} {
			b, err := os.ReadFile(from)
			if err != nil {
				return err
			}
			if err := n.WriteFile(to, string(b)); err != nil {
				return err
			}
		}
	}
	plugin := "calico-node"
	if l.Has(PluginAccount) {
		plugin = "calico-cni-plugin"
	}
	for path, account := range map[string]string{cniKube: plugin, calicoKube: "calico-node"} {
		text, err := l.tokenKubeconfig(ctx, account)
		if err != nil {
			return err
		}
		if err := n.WriteFile(path, text); err != nil {
			return err
		}
	}
	if n.layout().cniDir != layouts[LayoutKubeadm].cniDir {
		if err := n.WriteFile(layouts[LayoutKubeadm].cniDir+"/100-crio-bridge.conflist", foreignConfig); err != nil {
			return err
		}
	}
	return n.WriteFile(n.cniFile(), n.cniConfig())
}

// cniConfig is the network configuration of Calico's manifests, with the values of this
// lab.
func (n *Node) cniConfig() string {
	store := fmt.Sprintf(`"datastore_type": "kubernetes", "nodename": %q`, n.Name)
	if n.lab.Datastore == Etcd {
		store = fmt.Sprintf(`"etcd_endpoints": %q, "etcd_ca_cert_file": %q, "etcd_cert_file": %q, "etcd_key_file": %q`,
			n.lab.EtcdEndpoint(), nodeEtcdCA, nodeEtcdCert, nodeEtcdKey)
	}
	ipam := `{"type": "calico-ipam"}`
	if n.lab.DualStack {
		ipam = `{"type": "calico-ipam", "assign_ipv4": "true", "assign_ipv6": "true"}`
	}
	return fmt.Sprintf(`{"name": "k8s-pod-network", "cniVersion": "0.3.1", "plugins": [
  {"type": "calico", "log_level": "info", "log_file_path": "/var/log/calico/cni/cni.log", %s,
   "mtu": 1450, "ipam": %s, "policy": {"type": "k8s"}, "kubernetes": {"kubeconfig": %q}},
  {"type": "portmap", "snat": true, "capabilities": {"portMappings": true}}
]}
`, store, ipam, cniKube)
}

// autodetect is how a node finds its address.
func (l *Lab) autodetect(cidr string) string {
	if l.Has(AddressInKubernetes) {
		return "kubernetes-internal-ip"
	}
	return "cidr=" + cidr
}

// calicoEnv is the environment of calico-node's container.
func (n *Node) calicoEnv() []string {
	l := n.lab
	env := append(baseEnv(), l.datastoreEnv(nodeEtcdCA, nodeEtcdCert, nodeEtcdKey)...)
	env = append(env, "KUBECONFIG="+calicoKube, "NODENAME="+n.Name, "CALICO_K8S_NODE_REF="+n.Name,
		"CALICO_NETWORKING_BACKEND=vxlan", "CLUSTER_TYPE=k8s", "WAIT_FOR_DATASTORE=true", "CALICO_MANAGE_CNI=false",
		"IP=autodetect", "IP_AUTODETECTION_METHOD="+l.autodetect(nodeCIDR4),
		"CALICO_IPV4POOL_CIDR="+podCIDR4, "CALICO_IPV4POOL_BLOCK_SIZE="+strconv.Itoa(l.BlockSize),
		"CALICO_IPV4POOL_VXLAN=Always", "CALICO_IPV4POOL_IPIP=Never",
		"FELIX_DATASTORETYPE=kubernetes", "FELIX_FELIXHOSTNAME="+n.Name, "FELIX_IPV6SUPPORT="+strconv.FormatBool(l.DualStack),
		"FELIX_LOGSEVERITYSCREEN=Info", "FELIX_LOGSEVERITYSYS=none", "FELIX_LOGFILEPATH=none",
		"FELIX_HEALTHENABLED=true", "FELIX_HEALTHHOST=127.0.0.1", "FELIX_DEFAULTENDPOINTTOHOSTACTION=Accept",
		"FELIX_USAGEREPORTINGENABLED=false", "FELIX_BPFENABLED=false",
		// Built without cgo, Felix cannot look for the load balancer of an eBPF data plane that
		// never existed, and panics if it tries. The spelling is case-sensitive.
		"FELIX_DebugSkipCTLBCleanup=true", "FELIX_BPFKUBEPROXYIPTABLESCLEANUPENABLED=false",
	)
	if l.Datastore == Etcd {
		env = append(env, "FELIX_DATASTORETYPE=etcdv3", "FELIX_ETCDENDPOINTS="+l.EtcdEndpoint(),
			"FELIX_ETCDCAFILE="+nodeEtcdCA, "FELIX_ETCDCERTFILE="+nodeEtcdCert, "FELIX_ETCDKEYFILE="+nodeEtcdKey)
	}
	if l.DualStack {
		env = append(env, "IP6=autodetect", "IP6_AUTODETECTION_METHOD="+l.autodetect(nodeCIDR6),
			"CALICO_IPV6POOL_CIDR="+podCIDR6, "CALICO_IPV6POOL_VXLAN=Always")
	} else {
		env = append(env, "IP6=none")
	}
	return env
}

// startCalico does what calico-node's container does at its start, in its order:
// register the node (and, on the first node, the pools), then start the services.
func (n *Node) startCalico(ctx context.Context) error {
	bin := n.Bin("calico", "calico-node")
	// It exits if somebody else changes the Node meanwhile; a kubelet would start it again.
	err := Eventually(ctx, n.lab.Scale(30*time.Second), func(ctx context.Context) error {
		cmd := n.Command(ctx, bin, "-startup")
		cmd.Env = n.calicoEnv()
		out, err := output(cmd)
		if err != nil {
			return fmt.Errorf("%w: %s", err, strings.TrimSpace(lastLines(out, 3)))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("register %s with Calico: %w", n.Name, err)
	}
	for name, argv := range map[string][]string{
		tunnels: {bin, "-allocate-tunnel-addrs"},
		Felix:   {n.Bin("calico", "calico-felix"), "-c", "/dev/null"},
	} {
		err := n.StartPart(ctx, supervise.Part{
			Name: name, Argv: argv, Env: n.calicoEnv(), Log: n.logFile(name),
			RestartOn: []int{supervise.AnyExit},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// felixReady returns nil if Felix reports that it has programmed the data plane.
func (n *Node) felixReady(ctx context.Context) error {
	return n.await(ctx, Felix, func(ctx context.Context) error {
		_, err := n.Exec(ctx, "curl", "-fsS", "--max-time", "2", "http://127.0.0.1:9099/readiness")
		if err != nil {
			return fmt.Errorf("felix: %s: %w", http.StatusText(http.StatusServiceUnavailable), err)
		}
		return nil
	})
}
