package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"plumbline.dev/plumbline/lab/supervise"
)

// ErrOutside means that a client was used outside of a lab. There, a request to an
// address of the lab would follow the machine's default route to another host.
var ErrOutside = errors.New("not inside a lab")

// A Lab is a running cluster, used from inside its namespaces.
type Lab struct {
	Config
	Parts map[string]string // where each built component is
	Image string            `json:"image,omitempty"` // where the kernel and disk of its machines are
	Disk  string            `json:"disk,omitempty"`  // where the disk with the components is
	Slow  float64           `json:"slow,omitempty"`  // how much slower its slowest machine is than the host, at least 1

	sup supervise.Client

	once    sync.Once // the first request to the API server creates the client
	http    *http.Client
	httpErr error
}

// Open returns the lab that this process runs in.
func Open() (*Lab, error) {
	if _, ok := Inside(); !ok {
		return nil, ErrOutside
	}
	b, err := os.ReadFile(filepath.Join(stateDir, "lab.json"))
	if err != nil {
		return nil, fmt.Errorf("the lab has no cluster yet: %w", err)
	}
	l := &Lab{sup: outerSocket}
	return l, json.Unmarshal(b, l)
}

func (l *Lab) save() error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(stateDir, "lab.json"), b, 0o644)
}

// Kubeconfig is the path of the administrator's kubeconfig.
func (l *Lab) Kubeconfig() string { return filepath.Join(stateDir, "kubeconfig", "admin.conf") }

// ControlPlane is the address of the control plane, which every node reaches.
func (l *Lab) ControlPlane() string { return controlPlane4.String() }

// EtcdEndpoint is Calico's own etcd, for clients with one of EtcdCerts.
func (l *Lab) EtcdEndpoint() string { return fmt.Sprintf("https://%s:12379", controlPlane4) }

// KubernetesEtcd is the API server's etcd, without TLS on loopback.
func (l *Lab) KubernetesEtcd() string { return "http://127.0.0.1:2379" }

// EtcdCerts returns the CA, certificate and key of a user of Calico's etcd: root, calico
// or read-only.
func (l *Lab) EtcdCerts(user string) (ca, cert, key string) {
	dir := filepath.Join(stateDir, "etcd-pki")
	return filepath.Join(dir, "ca.crt"), filepath.Join(dir, user+".crt"), filepath.Join(dir, user+".key")
}

// AuditLog is the path of the API server's audit log.
func (l *Lab) AuditLog() string { return filepath.Join(stateDir, "log", "audit.log") }

// Bin is the path of a built program.
func (l *Lab) Bin(component, name string) string { return filepath.Join(l.Parts[component], name) }

// Env is the environment that a command inside the lab needs to reach the cluster.
func (l *Lab) Env() []string {
	env := []string{
		"KUBECONFIG=" + l.Kubeconfig(),
		"PATH=" + strings.Join([]string{l.Parts["kubernetes"], l.Parts["calico"], l.Parts["etcd"], os.Getenv("PATH")}, ":"),
	}
	return append(env, l.datastoreEnv(l.EtcdCerts("calico"))...)
}

// Kubectl runs kubectl as administrator and returns what it printed.
func (l *Lab) Kubectl(ctx context.Context, args ...string) (string, error) {
	return l.run(ctx, "", l.Bin("kubernetes", "kubectl"), args...)
}

// Apply applies the manifest with kubectl.
func (l *Lab) Apply(ctx context.Context, manifest string) error {
	_, err := l.run(ctx, manifest, l.Bin("kubernetes", "kubectl"), "apply", "--server-side", "--force-conflicts", "-f", "-")
	return err
}

// Calicoctl runs calicoctl with full permissions.
func (l *Lab) Calicoctl(ctx context.Context, args ...string) (string, error) {
	return l.run(ctx, "", l.Bin("calico", "calicoctl"), args...)
}

// CalicoctlApply applies the manifest with calicoctl.
func (l *Lab) CalicoctlApply(ctx context.Context, manifest string) error {
	_, err := l.run(ctx, manifest, l.Bin("calico", "calicoctl"), "apply", "-f", "-")
	return err
}

// Etcdctl runs etcdctl on Calico's etcd as user.
func (l *Lab) Etcdctl(ctx context.Context, user string, args ...string) (string, error) {
	ca, crt, key := l.EtcdCerts(user)
	base := []string{"--command-timeout=60s", "--dial-timeout=20s", "--endpoints=" + l.EtcdEndpoint(), "--cacert=" + ca, "--cert=" + crt, "--key=" + key}
	return l.run(ctx, "", l.Bin("etcd", "etcdctl"), append(base, args...)...)
}

func (l *Lab) run(ctx context.Context, stdin, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), l.Env()...)
	cmd.Stdin = strings.NewReader(stdin)
	return output(cmd)
}

// output returns what a command printed; its error has the end of stderr.
func output(cmd *exec.Cmd) (string, error) {
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %s", filepath.Base(cmd.Path), strings.Join(cmd.Args[1:], " "), err, strings.TrimSpace(lastLines(diag.String(), 10)))
	}
	return out.String(), nil
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Addresses of the lab. They are the same in every lab, since no two share a network.
var (
	controlPlane4 = netip.MustParseAddr("192.168.77.254")
	controlPlane6 = netip.MustParseAddr("fd77::254")
)

const (
	apiPort      = 6443
	nodeCIDR4    = "192.168.77.0/24"
	nodeCIDR6    = "fd77::/64"
	podCIDR4     = "10.244.0.0/16"
	podCIDR6     = "fd44::/64"
	serviceCIDR4 = "10.96.0.0/16"
	serviceCIDR6 = "fd96::/112"
)

func nodeAddr4(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 168, 77, byte(10 + i)}) }

func nodeAddr6(i int) netip.Addr { return netip.MustParseAddr(fmt.Sprintf("fd77::%x", 0x1000+i)) }

func (l *Lab) server() string { return fmt.Sprintf("https://%s:%d", controlPlane4, apiPort) }

// Log is the path of a log of the control plane.
func (l *Lab) Log(part string) string {
	return filepath.Join(stateDir, "log", filepath.Base(part)+".log")
}

// Status returns the state of the parts outside the nodes, with each node as one part.
func (l *Lab) Status(ctx context.Context) ([]supervise.Status, error) { return l.sup.List(ctx) }

// RunningNodes returns the running nodes, in order.
func (l *Lab) RunningNodes(ctx context.Context) ([]*Node, error) {
	all, err := l.sup.List(ctx)
	if err != nil {
		return nil, err
	}
	var nodes []*Node
	for _, s := range all {
		var i int
		if _, err := fmt.Sscanf(s.Name, "node%d", &i); err == nil && s.Running {
			nodes = append(nodes, l.node(i, s.PID))
		}
	}
	slices.SortFunc(nodes, func(a, b *Node) int { return a.Index - b.Index })
	return nodes, nil
}
