package daemon

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/host"
	"plumbline.dev/plumbline/internal/kernel/podns"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// An Env is what the program has from outside.
type Env struct {
	Args     []string // after the verb
	Stderr   io.Writer
	Hostname func() (string, error)
	Getenv   func(string) string
}

const usage = `Plumbline's keeper: puts the guard into this node's CNI configuration, and takes it out.

  plumbline-agent guard

It listens nowhere. Which mode is wanted is said by the files mode.NODE and mode of
--modes: observe, enforce or off. To remove the guard, say off and let the keeper run.

Flags:
`

// Main runs the keeper and gives its exit code.
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
	var w World
	var root, proc, socket string
	set := flag.NewFlagSet("plumbline-agent guard", flag.ContinueOnError)
	set.SetOutput(e.Stderr)
	set.Usage = func() {
		fmt.Fprint(e.Stderr, usage)
		set.PrintDefaults()
	}
	set.StringVar(&w.Node, "node", e.Getenv("NODE_NAME"), "the node's name in Kubernetes; else NODE_NAME, else the host's name")
	set.StringVar(&root, "root", "/", "the node's file system, as seen from here; /proc/1/root in a container with the node's PIDs")
	set.StringVar(&proc, "proc", "/proc", "procfs of the node's PIDs")
	set.StringVar(&socket, "socket", "", "the container runtime's socket below --root; else the kubelet's, else the only one of the usual ones")
	set.StringVar(&w.Modes, "modes", "/etc/plumbline/guard", "directory with the mode that is wanted")
	set.StringVar(&w.Program, "program", "/plumbline-cni", "the guard's program, which is put on the node")
	set.StringVar(&w.Record, "record", "", "directory of the flight record; empty for none")
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
	w.Log = slog.New(slog.NewTextHandler(e.Stderr, nil))
	w.Now = time.Now //nolint:forbidigo // the keeper is where the node's clock is read
	if err := ours(&root, &proc, &w.Modes, &w.Program, &w.Record); err != nil {
		return err
	}
	done := w.open(root, proc, socket)
	defer done()
	// From here the host's files are those without a slash before them. What /proc/1/root
	// leads to has no other name here: whoever resolved that link would be in our own files.
	if err := os.Chdir(root); err != nil {
		return err
	}
	w.Root = "."
	if root == "/" {
		w.Root = root
	}
	k, err := New(w)
	if err != nil {
		return err
	}
	w.Log.Info("keeps the guard", "node", w.Node, "root", root)
	return k.Run(ctx)
}

// ours makes paths of our own whole, before we go elsewhere.
func ours(paths ...*string) error {
	for _, p := range paths {
		if *p == "" {
			continue
		}
		whole, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = whole
	}
	return nil
}

// open describes the way to the node.
func (w *World) open(root, proc, socket string) (done func()) {
	h := host.New(host.Options{Proc: proc, Root: root, NodeName: w.Node})
	if socket == "" {
		socket = h.RuntimeSocket()
	}
	if socket == "" {
		socket = theOnly(root)
	}
	if real, err := tree(root).real(socket); err == nil {
		socket = real // /var/run is a link, and would lead into our own files
	}
	c := cri.Open(filepath.Join(root, socket))
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
	w.RunningSandboxes = func(ctx context.Context) ([]uint64, error) {
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

// runtimes are where container runtimes listen that tell what they have loaded.
var runtimes = []string{"/run/containerd/containerd.sock", "/run/k3s/containerd/containerd.sock", "/var/snap/microk8s/common/run/containerd.sock"}

// theOnly gives the one of them that is there. Where two are, nobody has said which one is
// the kubelet's.
func theOnly(root string) string {
	var there []string
	for _, s := range runtimes {
		if _, err := os.Stat(filepath.Join(root, s)); err == nil {
			there = append(there, s)
		}
	}
	if len(there) == 1 {
		return there[0]
	}
	return "/run/no-runtime-or-several.sock"
}
