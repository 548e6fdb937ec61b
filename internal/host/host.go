// Package host reads a node's procfs, mount tables and CNI directories. It does not
// evaluate them, and never touches a mount that may hang: a disposable child process does.
// The only change that it can make is to abort a file system that does not answer.
package host

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Options say where the node's file systems are. Empty fields have defaults.
type Options struct {
	Proc      string // procfs of the host's PID namespace: /proc
	Root      string // the host's file system: /; for a container with hostPID, /proc/1/root
	Sys       string // sysfs with FUSE's control files: sys below Root
	CNIConfig string // where the runtime finds its network configurations, below Root: asked of Runtime, else /etc/cni/net.d
	// Runtime asks the runtime for that directory; nil: there is none to ask.
	// observe.ErrNotThere: it does not say.
	Runtime     func(context.Context) (string, error)
	Plugins     func() []string // the directories of CNI plugins that the runtime has named; nil: the usual ones
	NodeName    string          // the node's name in Kubernetes
	Readiness   string          // URL of Felix' readiness: http://127.0.0.1:9099/readiness
	ProxyHealth []string        // where kube-proxy reports its health: http://127.0.0.1:10256
	Settle      time.Duration   // how long a temporary state must last before it is reported: 1 s
}

// A Host is a node that is read repeatedly: some problems show only in two reads.
type Host struct {
	o   Options
	now func() time.Duration // monotonic

	kubelet atomic.Pointer[kubelet] // as it was last found; nil: not looked for yet
	cniDir  atomic.Pointer[string]  // where the runtime last said that its network configurations are

	plugin atomic.Pointer[calicoPlugin] // Calico's, as it was last read

	dirMu    sync.Mutex
	dirAsked *dirQuestion // that the runtime has not answered yet; nil if there is none

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

// New returns a host that has not been read yet.
func New(o Options) *Host {
	fill := func(s *string, with string) {
		if *s == "" {
			*s = with
		}
	}
	fill(&o.Proc, "/proc")
	fill(&o.Root, "/")
	fill(&o.Sys, filepath.Join(o.Root, "sys"))
	fill(&o.Readiness, readiness)
	if o.ProxyHealth == nil {
		o.ProxyHealth = proxyHealth
	}
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

// Collectors are the collectors of a node's agent.
func (h *Host) Collectors() []observe.NodeCollector {
	return []observe.NodeCollector{
		{Name: "processes", Tables: []model.Table{model.Processes}, Read: h.readProcesses},
		{Name: "mounts", Tables: []model.Table{model.Mounts}, Read: h.readMounts},
		{Name: "cni", Tables: []model.Table{model.CNIConfigs, model.CNIResults}, Read: h.readCNI},
		{Name: "kube-proxy", Tables: []model.Table{model.Proxies}, Read: h.readProxy},
		{Name: "host-local", Tables: []model.Table{model.HostLocal}, Read: h.readHostLocal},
		{Name: "machine", Tables: []model.Table{model.Machines}, Read: h.readMachine},
	}
}

// Close kills the children that can be killed. One in a hanging mount ends with that mount.
func (h *Host) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if h.mounts.take(ctx) != nil {
		return
	}
	defer h.mounts.leave()
	h.children.end(ctx)
}
