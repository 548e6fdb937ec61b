package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plumbline.dev/plumbline/lab/machine"
	"plumbline.dev/plumbline/lab/supervise"
)

// A Node is one node of the cluster, with a kubelet, a container runtime and Calico's
// components: namespaces of its own, or an emulated machine.
type Node struct {
	Name  string
	Index int
	PID   int // of the node's first process, in the lab's PID namespace

	lab     *Lab
	sup     parts
	machine machine.Client // empty if the node is namespaces
}

// parts are the services of a node: below the lab's supervisor or systemd.
type parts interface {
	Start(ctx context.Context, p supervise.Part) (supervise.Status, error)
	Again(ctx context.Context, name string) error
	Signal(ctx context.Context, name string, sig syscall.Signal) error
	Stop(ctx context.Context, name string, grace time.Duration) error
	Kill(ctx context.Context, name string) error
	List(ctx context.Context) ([]supervise.Status, error)
}

func nodeName(i int) string { return "node" + strconv.Itoa(i) }

// Node returns a node by its number, counted from 1.
func (l *Lab) Node(ctx context.Context, i int) (*Node, error) {
	st, err := l.sup.Status(ctx, nodeName(i))
	if err != nil {
		return nil, err
	}
	if !st.Running {
		return nil, fmt.Errorf("%s is not running: %s", st.Name, st.Exit)
	}
	return l.node(i, st.PID), nil
}

func (l *Lab) node(i, pid int) *Node {
	n := &Node{Name: nodeName(i), Index: i, PID: pid, lab: l}
	if l.isMachine(i) {
		n.machine = machine.Client(machine.Socket(machineDir, n.Name))
		n.sup = systemd{n}
		return n
	}
	n.sup = supervise.Client(n.Path(nodeSocket))
	return n
}

// IsMachine returns whether the node is an emulated machine.
func (n *Node) IsMachine() bool { return n.machine != "" }

// NodeByName returns the node with that name.
func (l *Lab) NodeByName(ctx context.Context, name string) (*Node, error) {
	var i int
	if _, err := fmt.Sscanf(name, "node%d", &i); err != nil || nodeName(i) != name {
		return nil, fmt.Errorf("no node %q: nodes are named node1, node2, …", name)
	}
	return l.Node(ctx, i)
}

// Path returns the path, outside the node, of a file of the node. A machine's files have
// none.
func (n *Node) Path(p string) string {
	if n.IsMachine() {
		panic("lab: " + n.Name + " is a machine: its files are reached with Exec and WriteFile only")
	}
	return fmt.Sprintf("/proc/%d/root%s", n.PID, p)
}

// CRISocket is the socket of the node's container runtime.
func (n *Node) CRISocket() string { return n.Path(n.layout().socket) }

// Addr is the node's IPv4 address.
func (n *Node) Addr() netip.Addr { return nodeAddr4(n.Index) }

// Command runs argv in the node, in all of its namespaces.
func (n *Node) Command(ctx context.Context, argv ...string) *exec.Cmd {
	if n.IsMachine() {
		return n.machineCommand(ctx, argv...)
	}
	args := append([]string{"-t", strconv.Itoa(n.PID), "-m", "-n", "-p", "-u", "-i", "--"}, argv...)
	cmd := exec.CommandContext(ctx, "nsenter", args...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// Exec runs argv in the node and returns what it printed.
func (n *Node) Exec(ctx context.Context, argv ...string) (string, error) {
	return output(n.Command(ctx, argv...))
}

// WriteFile writes a file on the node. Its processes read either the old file or the
// complete new one.
func (n *Node) WriteFile(path, text string) error {
	if n.IsMachine() {
		return n.Send(context.Background(), path, strings.NewReader(text))
	}
	p := n.Path(path)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return fmt.Errorf("write %s on %s: %w", path, n.Name, err)
	}
	tmp := p + ".new"
	if err := os.WriteFile(tmp, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write %s on %s: %w", path, n.Name, err)
	}
	return os.Rename(tmp, p)
}

// Log is the path, from outside the node, of the log of kubelet, containerd,
// kube-proxy, felix or cni.
func (n *Node) Log(part string) string { return n.Path(n.logFile(part)) }

// logFile is the log's path on the node. On a machine only cni has one.
func (n *Node) logFile(part string) string {
	switch part {
	case "cni":
		return "/var/log/calico/cni/cni.log"
	case Felix, tunnels:
		return "/var/log/calico/" + part + ".log"
	}
	return "/var/log/" + part + ".log"
}

// ReadLog returns the log of a part.
func (n *Node) ReadLog(ctx context.Context, part string) (string, error) {
	if n.IsMachine() && part != "cni" {
		return n.Exec(ctx, "journalctl", "--no-pager", "-o", "cat", "-u", part)
	}
	return n.Exec(ctx, "cat", n.logFile(part))
}

// The parts of a node.
const (
	Containerd = "containerd"
	Kubelet    = "kubelet"
	KubeProxy  = "kube-proxy"
	Felix      = "felix"
	tunnels    = "tunnel-addresses"
)

// Stop, Kill, Freeze, Thaw and Restart do to a part of the node what an operator or a
// crash would do. Containers keep running without their runtime, as on a real node.

// Stop stops the part gracefully.
func (n *Node) Stop(ctx context.Context, part string) error {
	return n.sup.Stop(ctx, part, 15*time.Second)
}

// Kill ends the part at once.
func (n *Node) Kill(ctx context.Context, part string) error { return n.sup.Kill(ctx, part) }

// Crash kills the part and does not wait: it may hang in the kernel.
func (n *Node) Crash(ctx context.Context, part string) error {
	return n.sup.Signal(ctx, part, syscall.SIGKILL)
}

// Freeze stops the part's process (SIGSTOP).
func (n *Node) Freeze(ctx context.Context, part string) error {
	return n.sup.Signal(ctx, part, syscall.SIGSTOP)
}

// Thaw continues a frozen part.
func (n *Node) Thaw(ctx context.Context, part string) error {
	return n.sup.Signal(ctx, part, syscall.SIGCONT)
}

// Start starts a part that was stopped or killed.
func (n *Node) Start(ctx context.Context, part string) error { return n.sup.Again(ctx, part) }

// Restart stops the part gracefully and starts it again.
func (n *Node) Restart(ctx context.Context, part string) error {
	if err := n.Stop(ctx, part); err != nil {
		return err
	}
	return n.Start(ctx, part)
}

// Status returns the state of the node's parts.
func (n *Node) Status(ctx context.Context) ([]supervise.Status, error) { return n.sup.List(ctx) }

// StartPart runs a further process in the node, supervised like its other parts.
func (n *Node) StartPart(ctx context.Context, p supervise.Part) error {
	_, err := n.sup.Start(ctx, p)
	return err
}

// Install puts a program of the lab into a directory of the node.
func (n *Node) Install(ctx context.Context, component, program, name string) error {
	if n.IsMachine() {
		_, err := n.Exec(ctx, "install", "-D", n.Bin(component, program), name)
		return err
	}
	target := n.Bin(component, program)
	err := os.Symlink(target, n.Path(name))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
