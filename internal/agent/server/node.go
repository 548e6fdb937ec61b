package server

import (
	"context"
	"time"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/host"
	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A node is the agent's access to kernel, runtime, processes and files of the node.
type node struct {
	collectors []observe.NodeCollector
	watch      []func(ctx context.Context, changed func(tables ...model.Table)) error
	kernel     func(ctx context.Context, to kernel.Listener) error
	process    func(ctx context.Context, port uint32, link int) string
	calls      func(ctx context.Context) ([]model.Process, error)
	lock       func() (host.IPAMLock, error)
	writer     *NodeWriter // nil: the agent only reads
	server     string      // the kubelet's address of the API server
	kubelet    func() time.Time
	close      func()
}

// runtimes are the usual sockets of container runtimes.
var runtimes = []string{
	"/run/containerd/containerd.sock", "/run/k3s/containerd/containerd.sock", "/run/crio/crio.sock",
	"/run/cri-dockerd.sock", "/var/snap/microk8s/common/run/containerd.sock",
}

func open(f flags) *node {
	k := kernel.Options{Proc: f.proc, Root: f.root}
	var c *cri.Client
	h := host.New(host.Options{
		Proc: f.proc, Root: f.root, NodeName: f.node, CNIConfig: f.cniConfig,
		Runtime: func(ctx context.Context) (string, error) { return c.CNIDirectory(ctx) },
		Plugins: func() []string { return c.CNIBinaries() },
	})
	socket := cri.Usual(f.root, h.RuntimeSocket, runtimes...)
	if f.socket != "" {
		socket = cri.At(f.socket)
	}
	c = cri.Open(f.root, socket)
	n := &node{calls: h.CNICalls, server: h.APIServer(), kubelet: h.KubeletStart}
	if f.repair {
		n.writer = &NodeWriter{Kernel: k, Host: h, CRI: c}
	}
	n.collectors = append(n.collectors, kernel.Collectors(k)...)
	n.collectors = append(n.collectors, c.Collectors(f.root)...)
	n.collectors = append(n.collectors, h.Collectors()...)
	n.collectors = append(n.collectors, guardCollector(f.root, now))
	n.watch = append(n.watch,
		func(ctx context.Context, changed func(...model.Table)) error {
			return c.Watch(ctx, func() { changed(model.Sandboxes, model.Containers, model.Attachments, model.Paths) })
		},
		h.Watch,
	)
	n.kernel = func(ctx context.Context, to kernel.Listener) error { return kernel.Watch(ctx, k, to) }
	n.process, n.lock = host.NewWriters(h).Name, h.IPAMLock
	n.close = func() {
		h.Close()
		_ = c.Close()
	}
	return n
}
