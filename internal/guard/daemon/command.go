package daemon

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/host"
	"plumbline.dev/plumbline/internal/kernel/podns"
	"plumbline.dev/plumbline/internal/logformat"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// An Env is what the program gets from its process.
type Env struct {
	Args     []string // after the verb
	Stderr   io.Writer
	Hostname func() (string, error)
	Getenv   func(string) string
}

// serviceAccount is where Kubernetes mounts the account of a pod.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

const usage = `Guard daemon: inserts the guard into this node's CNI configuration and removes it.

  plumbline-agent guard

It opens no port. At its end it asks Kubernetes whether its DaemonSet is deleted, and if
so removes the guard from the node. The files mode.NODE and mode in the directory --modes set the mode:
observe, enforce or off. To remove the guard, set off and let the guard daemon run.

Flags:
`

// Main runs the guard daemon and returns its exit code.
func Main(ctx context.Context, e Env) int {
	if err := run(ctx, e); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(e.Stderr, "plumbline-agent guard:", err)
		}
		return 2
	}
	return 0
}

func run(ctx context.Context, e Env) error {
	var w environment
	var root, proc, socket, own string
	var format logformat.Format
	set := flag.NewFlagSet("plumbline-agent guard", flag.ContinueOnError)
	set.SetOutput(e.Stderr)
	set.Usage = func() {
		fmt.Fprint(e.Stderr, usage)
		set.PrintDefaults()
	}
	set.StringVar(&w.Node, "node", e.Getenv("NODE_NAME"), "node name in Kubernetes; default: $NODE_NAME, then the host name")
	set.StringVar(&root, "root", "/", "path of the node's root file system; in a container with hostPID: /proc/1/root")
	set.StringVar(&proc, "proc", "/proc", "procfs with the node's PIDs")
	set.StringVar(&socket, "socket", "", "socket of the container runtime below --root; default: that of the kubelet, then the only existing one of the usual sockets")
	set.StringVar(&w.Modes, "modes", "/etc/plumbline/guard", "directory with the files mode and mode.NODE")
	set.StringVar(&w.Program, "program", "/plumbline-cni", "the plumbline-cni program to install on the node")
	set.StringVar(&w.Record, "event-log", "", "directory of the node's event log; empty for none")
	set.StringVar(&own, "daemonset", "", "DaemonSet of this pod: if it is deleted, the guard is removed from the node at the end; empty for none")
	set.Func("record", "removed: use --event-log", func(string) error { return errors.New("removed: use --event-log") })
	logformat.Var(set, &format)
	if err := set.Parse(e.Args); err != nil {
		return err
	}
	if set.NArg() > 0 {
		set.Usage()
		return flag.ErrHelp
	}
	if w.Node == "" {
		var err error
		if w.Node, err = e.Hostname(); err != nil {
			return err
		}
	}
	w.Log = format.Logger(e.Stderr)
	w.Now = time.Now //nolint:forbidigo // the guard daemon is where the node's clock is read
	if err := ours(&root, &proc, &w.Modes, &w.Program, &w.Record); err != nil {
		return err
	}
	if d, ok := inCluster(own, serviceAccount, e.Getenv); ok {
		w.Uninstalled = d.state
	}
	done := w.open(root, proc, socket)
	defer done()
	// From here on the host's files have relative paths. The target of /proc/1/root has no
	// other path here: resolving that link would lead into the container's own files.
	if err := os.Chdir(root); err != nil {
		return err
	}
	w.Root = "."
	if root == "/" {
		w.Root = root
	}
	k, err := newDaemon(w)
	if err != nil {
		return err
	}
	w.Log.Info("guard daemon started", "node", w.Node, "root", root)
	return k.Run(ctx)
}

// ours makes paths of the container absolute, before the working directory changes.
func ours(paths ...*string) error {
	for _, p := range paths {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	return nil
}

// open connects environment to the node.
func (w *environment) open(root, proc, socket string) (done func()) {
	h := host.New(host.Options{Proc: proc, Root: root, NodeName: w.Node})
	at := cri.Usual(root, h.RuntimeSocket, runtimes...)
	if socket != "" {
		at = cri.At(socket)
	}
	c := cri.Open(root, at)
	w.Networking = c.Networking
	w.Sandboxes = func(ctx context.Context) ([]model.Sandbox, error) {
		var f model.NodeState
		err := c.Collectors(root)[0].Read(ctx, &f)
		var blind observe.TableErrors
		if errors.As(err, &blind) {
			err = blind[model.Sandboxes]
		}
		return f.Sandboxes, err
	}
	w.Calls = h.CNICalls
	w.Namespaces = func(ctx context.Context) ([]uint64, error) {
		all, err := podns.Namespaces(ctx, proc, root)
		var out []uint64
		for i := range all {
			out = append(out, all[i].Inode)
		}
		return out, err
	}
	return func() {
		h.Close()
		_ = c.Close()
	}
}

// runtimes are the sockets of container runtimes that report their loaded CNI
// configuration.
var runtimes = []string{"/run/containerd/containerd.sock", "/run/k3s/containerd/containerd.sock", "/var/snap/microk8s/common/run/containerd.sock"}
