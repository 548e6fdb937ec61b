package parse

import (
	"cmp"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/timeline/records"
)

const (
	// maxCalls bounds the calls that are kept; the oldest is dropped first.
	maxCalls = 4096
	// maxUnderWay bounds the open calls of one stream.
	maxUnderWay = 256
	// processLife is how long after its last line a process ID still identifies the same CNI call.
	processLife = 2 * time.Minute
	// callLife is how long after its last line a call of 2017, whose lines have no process ID of
	// their own, still gets lines.
	callLife = 10 * time.Second
)

// A caller is what a line shows of the CNI call that it belongs to; empty fields are unknown.
type caller struct {
	sandbox string
	pod     string
	verb    verb
	main    bool // only the CNI plugin writes this line, never its IPAM plugin
}

// calls keeps the CNI calls of one file, because most lines do not name their sandbox. There are
// two ways to find the call of a line:
//   - current lines carry the process ID of the plugin, and every call is a process of its own:
//     today looks in byProcess, and joins the process of the plugin and that of its IPAM plugin by
//     their sandbox (bySandbox).
//   - lines of 2017 are in the kubelet's log, and the process is the kubelet's: environ, named and
//     only look in underWay, and give a line to a call only if no other can have written it.
//
// Invariants:
//   - every call in byProcess, bySandbox and underWay is in all; forget removes it from all three
//     when its place in all is reused. A call that named returns where several are possible is in
//     none of them.
//   - byProcess[p] == k implies that p is in k.bound.
//   - bySandbox[id].sandbox == id.
//   - a field of a call that is set never changes to another value (name), except device and the
//     fields that follow its progress.
type calls struct {
	byProcess map[process]*call   // current lines: the last call of each process
	bySandbox map[string]*call    // the newest call of each sandbox
	underWay  map[process][]*call // lines of 2017: calls of each stream that have not ended, oldest first; at most maxUnderWay
	all       []*call             // a ring of at most maxCalls; when full, the oldest is at next
	next      int                 // 0 until all is full
	nodes     map[string]string   // the name that Calico uses for each node
	owners    map[string]string   // sandbox of the newest endpoint, by node and pod; emptied at maxCalls
}

// owns notes that the endpoint of the pod name belongs to the call's sandbox.
func (c *calls) owns(r *records.Record, k *call) {
	if k.pod == "" || k.sandbox == "" {
		return
	}
	if c.owners == nil || len(c.owners) >= maxCalls {
		c.owners = map[string]string{}
	}
	c.owners[r.Node+"\x00"+k.pod] = k.sandbox
}

// disown notes that the endpoint of the pod name was deleted.
func (c *calls) disown(r *records.Record, k *call) { delete(c.owners, r.Node+"\x00"+k.pod) }

// owner reports whether the endpoint of the pod name is known to belong to the call's sandbox.
func (c *calls) owner(r *records.Record, k *call) bool {
	return k.sandbox != "" && c.owners[r.Node+"\x00"+k.pod] == k.sandbox
}

// nodeNamed notes the name that Calico uses for a node, and reports whether it is new.
func (c *calls) nodeNamed(node, name string) bool {
	if c.nodes[node] == name {
		return false
	}
	if c.nodes == nil || len(c.nodes) >= maxCalls {
		c.nodes = map[string]string{}
	}
	c.nodes[node] = name
	return true
}

// open adds a call to all, which drops the oldest if all is full, and names it.
func (c *calls) open(r *records.Record, w caller) *call {
	if c.bySandbox == nil {
		c.bySandbox, c.byProcess, c.underWay = map[string]*call{}, map[process]*call{}, map[process][]*call{}
	}
	k := &call{of: process{r.Node, r.PID}, last: r.At}
	if len(c.all) < maxCalls {
		c.all = append(c.all, k)
	} else {
		c.forget(c.all[c.next])
		c.all[c.next], c.next = k, (c.next+1)%maxCalls
	}
	c.name(k, w)
	return k
}

// name sets those fields of a call that were not known from w. When the call's sandbox becomes
// known, the call becomes the newest of that sandbox and takes over pod, device and addresses
// from the one before.
func (c *calls) name(k *call, w caller) {
	k.pod = cmp.Or(k.pod, w.pod)
	k.verb = cmp.Or(k.verb, w.verb)
	k.sandbox = cmp.Or(k.sandbox, w.sandbox)
	if k.sandbox == "" || c.bySandbox[k.sandbox] == k {
		return
	}
	if old := c.bySandbox[k.sandbox]; old != nil {
		k.pod = cmp.Or(k.pod, old.pod)
		k.device = cmp.Or(k.device, old.device)
		for _, a := range old.addresses {
			k.got(a)
		}
	}
	c.bySandbox[k.sandbox] = k
}

// forget removes a call from all maps; its place in all is reused by the caller.
func (c *calls) forget(k *call) {
	if c.bySandbox[k.sandbox] == k {
		delete(c.bySandbox, k.sandbox)
	}
	for _, p := range k.bound {
		if c.byProcess[p] == k {
			delete(c.byProcess, p)
		}
	}
	c.leave(k)
}

// leave removes a call from underWay.
func (c *calls) leave(k *call) {
	list := slices.DeleteFunc(c.underWay[k.of], func(o *call) bool { return o == k })
	if len(list) == 0 {
		delete(c.underWay, k.of)
		return
	}
	c.underWay[k.of] = list
}
