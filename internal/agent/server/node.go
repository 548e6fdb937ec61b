package server

import (
	"context"
	"os"
	"path/filepath"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/host"
	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A node is the real one: its kernel, its runtime, its processes and files.
type node struct {
	senses []observe.Sense
	watch  []func(ctx context.Context, changed func(tables ...model.Table)) error
	calls  func(ctx context.Context) ([]model.Process, error)
	server string // where the kubelet reaches the API server
	close  func()
}

// runtimes are where container runtimes listen.
var runtimes = []string{
	"/run/containerd/containerd.sock", "/run/k3s/containerd/containerd.sock", "/run/crio/crio.sock",
	"/run/cri-dockerd.sock", "/var/snap/microk8s/common/run/containerd.sock",
}

func open(f flags) *node {
	socket := filepath.Join(f.root, runtimes[0])
	for _, s := range runtimes {
		if _, err := os.Stat(filepath.Join(f.root, s)); err == nil {
			socket = filepath.Join(f.root, s)
			break
		}
	}
	if f.socket != "" {
		socket = filepath.Join(f.root, f.socket)
	}
	k := kernel.Options{Proc: f.proc, Root: f.root}
	h := host.New(host.Options{Proc: f.proc, Root: f.root, NodeName: f.node})
	c := cri.Open(socket)
	n := &node{calls: h.CNICalls, server: h.APIServer()}
	n.senses = append(n.senses, kernel.Senses(k)...)
	n.senses = append(n.senses, c.Senses(f.root)...)
	n.senses = append(n.senses, h.Senses()...)
	n.watch = append(n.watch,
		func(ctx context.Context, changed func(...model.Table)) error {
			return kernel.Watch(ctx, k, func(_ uint64, tables ...model.Table) { changed(tables...) })
		},
		func(ctx context.Context, changed func(...model.Table)) error {
			return c.Watch(ctx, func() { changed(model.Sandboxes, model.Containers, model.Attachments, model.Paths) })
		},
	)
	n.watch = append(n.watch, h.Watch)
	n.close = func() {
		h.Close()
		_ = c.Close()
	}
	return n
}
