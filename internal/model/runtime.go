package model

import (
	"net/netip"
	"strconv"
	"strings"
)

// A Sandbox is a pod sandbox as the container runtime reports it.
type Sandbox struct {
	Node        string `json:"-"`
	ID          string `json:"id"`
	Namespace   string `json:"namespace"`
	Pod         string `json:"pod"`
	UID         string `json:"uid"` // of a static pod: the hash of its manifest
	Attempt     uint32 `json:"attempt,omitempty"`
	Ready       bool   `json:"ready,omitempty"`
	HostNetwork bool   `json:"hostNetwork,omitempty"`
	NetNS       string `json:"netns,omitempty"`
	Inode       uint64 `json:"inode,omitempty"` // of the network namespace; 0 if it is gone
	PID         int    `json:"pid,omitempty"`
	Handler     string `json:"handler,omitempty"` // of the runtime class; empty for the default one
	Created     Time   `json:"created,omitzero"`  // by the node's clock: for display only
	Since       Time   `json:"since,omitzero"`
	Extra       Extra  `json:"-"`
}

// Ref names the sandbox.
func (s *Sandbox) Ref() Ref { return Ref{KindSandbox, s.Node + "/" + s.ID} }

// SharesKernel reports whether the pod's processes use the node's kernel, and with it the
// interfaces that the agent reads. gVisor and similar runtimes move address and routes to a
// network stack of their own; what other handlers do is unknown.
func (s *Sandbox) SharesKernel() bool {
	switch h := strings.ToLower(s.Handler); h {
	case "", "default", "youki", "nvidia":
		return true
	default:
		return strings.Contains(h, "runc") || strings.Contains(h, "crun")
	}
}

// A Container is a container as the container runtime reports it.
type Container struct {
	Node    string `json:"-"`
	ID      string `json:"id"`
	Sandbox string `json:"sandbox"`
	Name    string `json:"name"`
	State   string `json:"state"` // created, running, exited, unknown
	PID     int    `json:"pid,omitempty"`
	Since   Time   `json:"since,omitzero"`
	Extra   Extra  `json:"-"`
}

// Ref names the container.
func (c *Container) Ref() Ref { return Ref{KindContainer, c.Node + "/" + c.ID} }

// A CNIConfig is a CNI configuration that the runtime may load, without secrets.
type CNIConfig struct {
	Node      string   `json:"-"`
	File      string   `json:"file"`
	Network   string   `json:"network"`
	Loaded    bool     `json:"loaded,omitempty"`    // the runtime uses it
	Plugins   []string `json:"plugins,omitempty"`   // their types, in order
	NodeName  string   `json:"nodeName,omitempty"`  // nodename in Calico's entry
	IPAM      string   `json:"ipam,omitempty"`      // IPAM type of Calico's entry, or of the first plugin
	Datastore string   `json:"datastore,omitempty"` // of Calico's entry: kdd or etcd; empty if it names none
	Endpoints []string `json:"endpoints,omitempty"` // of etcd in Calico's entry, as HOST:PORT
	Issued    Time     `json:"issued,omitzero"`     // when the token of Calico's plugin was issued, by the API server's clock
	Expires   Time     `json:"expires,omitzero"`    // when it ends; zero: it has no such token, or it could not be read
	Error     string   `json:"error,omitempty"`     // why it cannot be read
	Since     Time     `json:"since,omitzero"`
	Extra     Extra    `json:"-"`
}

// Ref names the file.
func (c *CNIConfig) Ref() Ref { return Ref{KindCNIConfig, c.Node + "/" + c.File} }

// A CNIResult is libcni's cached result of an ADD.
type CNIResult struct {
	Node      string         `json:"-"`
	Network   string         `json:"network"`
	Container string         `json:"container"`
	Interface string         `json:"interface"`
	IPs       []netip.Prefix `json:"ips,omitempty"`
	Since     Time           `json:"since,omitzero"`
	Extra     Extra          `json:"-"`
}

// A Process is a process that the agent reports: a zombie, one that cannot be killed, a CNI
// call, Felix.
type Process struct {
	Node      string   `json:"-"`
	PID       int      `json:"pid"`
	Name      string   `json:"name"`
	Why       string   `json:"why"`               // zombie, unkillable, cni, felix
	State     string   `json:"state"`             // of the leader: R, S, D, Z, T …
	Waits     string   `json:"waits,omitempty"`   // the kernel function that the leader waits in
	Threads   []Thread `json:"threads,omitempty"` // threads in state D, or that run although the leader is a zombie; at most 16
	Parent    int      `json:"parent,omitempty"`
	Init      bool     `json:"init,omitempty"`      // first process of a PID namespace: its container ends with it
	Container string   `json:"container,omitempty"` // from its cgroup
	PodUID    string   `json:"podUID,omitempty"`    // from its cgroup
	NSLinks   string   `json:"nsLinks,omitempty"`   // the error with which its namespace links cannot be read
	Command   string   `json:"command,omitempty"`   // CNI_COMMAND of a CNI call
	CNI       string   `json:"cni,omitempty"`       // CNI_CONTAINERID of a CNI call
	Pod       string   `json:"pod,omitempty"`       // NAMESPACE/NAME that a CNI call is for
	Files     []string `json:"files,omitempty"`     // mounts of its open files and its working directory
	Since     Time     `json:"since,omitzero"`
	Extra     Extra    `json:"-"`
}

// Ref names the process.
func (p *Process) Ref() Ref { return Ref{KindProcess, p.Node + "/" + strconv.Itoa(p.PID)} }

// A Thread is a thread of a process.
type Thread struct {
	TID   int    `json:"tid"`
	State string `json:"state"`
	Waits string `json:"waits,omitempty"`
}

// A Mount is a mount that can hang, or that is left of a container or pod that is gone.
type Mount struct {
	Node   string   `json:"-"`
	Target string   `json:"target"`
	Type   string   `json:"type"`
	Source string   `json:"source"`
	Device string   `json:"device"`           // major:minor
	Silent bool     `json:"silent,omitempty"` // it does not answer
	Asked  string   `json:"asked,omitempty"`  // how that was detected: probe, fuse waiting, mountstats
	Server string   `json:"server,omitempty"` // host of a network file system, process of a FUSE one
	Pods   []string `json:"pods,omitempty"`   // UIDs of the pods that use it
	Known  bool     `json:"known,omitempty"`  // Pods are all that can use it; only of a silent one
	Layer  string   `json:"layer,omitempty"`  // what else lies on it, such as the image of a running container; only of a silent one
	Waits  int64    `json:"waits,omitempty"`  // for how many seconds requests have waited without a break
	Dead   string   `json:"dead,omitempty"`   // the container, sandbox or pod (UID) that it belonged to, which is gone
	HeldBy []Holder `json:"heldBy,omitempty"` // processes whose mount namespace keeps it, if Dead is set
	Since  Time     `json:"since,omitzero"`
	Extra  Extra    `json:"-"`
}

// Ref names the mount by its source.
func (m *Mount) Ref() Ref {
	what := m.Source
	if what == "" || what == "none" {
		what = m.Target
	}
	return Ref{KindMount, m.Node + "/" + what}
}

// A Holder is a process whose mount namespace keeps a mount.
type Holder struct {
	PID    int    `json:"pid"`
	Name   string `json:"name"`
	PodUID string `json:"podUID,omitempty"`
}

// A Runtime is how the container runtime answers one call.
type Runtime struct {
	Node   string `json:"-"`
	Call   string `json:"call"` // Version, Status, ListPodSandbox, ListContainers
	Name   string `json:"name,omitempty"`
	Millis int64  `json:"millis"`
	Error  string `json:"error,omitempty"`
	Since  Time   `json:"since,omitzero"` // since when it has been slow, or has not answered
	Extra  Extra  `json:"-"`
}

// A FailedDel is a CNI DEL that failed at its last attempt, a few minutes ago at most.
type FailedDel struct {
	Node    string `json:"-"`
	Sandbox string `json:"sandbox"`
	Tries   int    `json:"tries"` // at least; attempts within seconds of each other count once
	Span    int64  `json:"span"`  // seconds between the first and the last of them
	Ago     int64  `json:"ago"`   // seconds since the last, when the agent read it
	Error   string `json:"error,omitempty"`
	Since   Time   `json:"since,omitzero"` // since when the agent has seen it fail
	Extra   Extra  `json:"-"`
}

// Ref names the sandbox.
func (d *FailedDel) Ref() Ref { return Ref{KindSandbox, d.Node + "/" + d.Sandbox} }

// A Machine describes the node as a whole. There is one row per node.
type Machine struct {
	Node       string            `json:"-"`
	BootID     string            `json:"bootID"`
	Uptime     int64             `json:"uptime"`            // seconds
	Kubelet    int64             `json:"kubelet,omitempty"` // seconds after the boot at which its kubelet started; 0: unknown
	NodeName   string            `json:"nodeName"`
	CalicoName string            `json:"calicoName,omitempty"` // content of Calico's nodename file
	NetNS      uint64            `json:"netNS,omitempty"`      // inode of the host's network namespace
	Kernel     string            `json:"kernel,omitempty"`
	Felix      string            `json:"felix,omitempty"`    // ready, not ready, not running, or empty: unknown
	Settings   map[string]string `json:"settings,omitempty"` // environment of calico-node that matters: FELIX_BPFENABLED …
	Plugin     string            `json:"plugin,omitempty"`   // version of Calico's CNI plugin, from its program; empty: there is none, or it does not tell
	Since      Time              `json:"since,omitzero"`     // since when Felix has this state
	// Ahead is by how many seconds the node's clock is ahead of the API server's, at least;
	// negative if it is behind. Whoever reads the node sets it, the node itself cannot know.
	Ahead int64 `json:"ahead,omitempty"`
	// Revision is the highest that the API server gave the agent; 0: it has not asked, or is older.
	Revision uint64   `json:"revision,omitempty"`
	Restored Restored `json:"restored,omitzero"` // the API server's data, as the node remembers it; zero: it was not
	// Summed means that routes and neighbour entries of ways to other nodes are not in their tables but
	// in Ways, except those of the buckets in Open.
	Summed bool     `json:"summed,omitempty"`
	Ways   []WaySum `json:"ways,omitempty"`
	Open   []int    `json:"open,omitempty"`
	Extra  Extra    `json:"-"`
}

// Ref names the machine.
func (m *Machine) Ref() Ref { return Ref{KindMachine, m.Node + "/machine"} }
