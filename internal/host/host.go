// Package host reads what a node's procfs, mount tables and CNI directories say. It judges
// nothing and never touches a mount that may hang: whatever could, is asked by a disposable
// child. What it can change is a file system that does not answer, when it is told to.
package host

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Options say where the node is, as seen from here. What is empty has a default.
type Options struct {
	Proc      string        // procfs of the host's PID namespace: /proc
	Root      string        // the host's file system: /; for a container with hostPID, /proc/1/root
	Sys       string        // sysfs with FUSE's control files: sys below Root
	CNIConfig string        // where the runtime finds its network configurations, below Root: /etc/cni/net.d
	NodeName  string        // the node's name in Kubernetes
	Readiness string        // URL that tells whether Felix is ready: http://127.0.0.1:9099/readiness
	Settle    time.Duration // for how long something passing must last before it is told: 1 s
}

// A Host is a node that is looked at again and again: some things show only in two looks.
type Host struct {
	o   Options
	now func() time.Duration // by a clock that only runs forward

	kubelet atomic.Uint64 // since when it runs, in ticks after the boot; 0: there is none

	procs  turn // guards the four below
	known  map[int]known
	places map[int]place
	stuck  memory[int, pause]
	unread map[string]hanging // reads that hang, by file

	mounts   turn // guards the ones below
	dead     memory[deadKey, struct{}]
	alive    map[string]time.Duration // when a child last got an answer, by device
	fuse     map[string]waiting
	nfs      map[string]calls
	servers  map[string]server
	children children
}

// New gives a host that nobody has looked at yet.
func New(o Options) *Host {
	fill := func(s *string, with string) {
		if *s == "" {
			*s = with
		}
	}
	fill(&o.Proc, "/proc")
	fill(&o.Root, "/")
	fill(&o.Sys, filepath.Join(o.Root, "sys"))
	fill(&o.CNIConfig, "/etc/cni/net.d")
	fill(&o.Readiness, readiness)
	if o.Settle == 0 {
		o.Settle = time.Second
	}
	began := time.Now() //nolint:forbidigo // only differences are used
	return &Host{
		o: o, now: func() time.Duration { return time.Since(began) },
		procs: newTurn(), known: map[int]known{}, places: map[int]place{}, unread: map[string]hanging{},
		mounts: newTurn(), alive: map[string]time.Duration{}, fuse: map[string]waiting{}, nfs: map[string]calls{}, servers: map[string]server{},
		children: children{},
	}
}

// Collectors are what a node's agent asks.
func (h *Host) Collectors() []observe.NodeCollector {
	return []observe.NodeCollector{
		{Name: "processes", Tables: []model.Table{model.Processes}, Read: h.readProcesses},
		{Name: "mounts", Tables: []model.Table{model.Mounts}, Read: h.readMounts},
		{Name: "cni", Tables: []model.Table{model.CNIConfigs, model.CNIResults}, Read: h.readCNI},
		{Name: "machine", Tables: []model.Table{model.Machines}, Read: h.readMachine},
	}
}

// Close ends the children that can be ended. One that sits in a dead mount ends with
// that mount; it has been told to.
func (h *Host) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if h.mounts.take(ctx) != nil {
		return
	}
	defer h.mounts.leave()
	h.children.end(ctx)
}
