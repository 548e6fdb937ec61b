package parse

import (
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/timeline/records"
)

const (
	// maxCalls bounds what is remembered: the oldest call is forgotten first.
	maxCalls = 4096
	// maxUnderWay bounds the calls that one stream may have under way at once.
	maxUnderWay = 256
	// processLife is how long a process number stands for the same call of CNI.
	processLife = 2 * time.Minute
	// callLife is how long a call of 2017, whose lines have no process, waits for its next.
	callLife = 10 * time.Second
)

// A caller is what a line says of the call that it belongs to.
type caller struct {
	sandbox string
	pod     string
	verb    verb
	main    bool // only the plugin itself writes this line, not its IPAM
}

// calls remember the calls of CNI, for most lines do not say whose they are.
type calls struct {
	byProcess map[process]*call   // today: the process is the call
	bySandbox map[string]*call    // the newest of each
	underWay  map[process][]*call // 2017: all that the kubelet's lines may belong to
	all       []*call             // a ring, oldest at next
	next      int
	nodes     map[string]string // by which name Calico knows each
	owners    map[string]string // sandbox of each pod's newest endpoint, by node and pod
}

// owns takes note of whose the endpoint of a pod's name is.
func (c *calls) owns(r *records.Record, k *call) {
	if k.pod == "" || k.sandbox == "" {
		return
	}
	if c.owners == nil || len(c.owners) >= maxCalls {
		c.owners = map[string]string{}
	}
	c.owners[r.Node+"\x00"+k.pod] = k.sandbox
}

// disown takes note that nobody has an endpoint of the pod's name any more.
func (c *calls) disown(r *records.Record, k *call) { delete(c.owners, r.Node+"\x00"+k.pod) }

// owner tells whether the endpoint of the pod's name is this call's sandbox's.
func (c *calls) owner(r *records.Record, k *call) bool {
	return k.sandbox != "" && c.owners[r.Node+"\x00"+k.pod] == k.sandbox
}

// nodeNamed takes note of a node's name, and tells whether it is news.
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

// open begins a call.
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

// name gives a call what a line has told of it, if it did not have it; and what its
// sandbox was known by stays known.
func (c *calls) name(k *call, w caller) {
	if k.pod == "" {
		k.pod = w.pod
	}
	if k.verb == unknown {
		k.verb = w.verb
	}
	if k.sandbox == "" {
		k.sandbox = w.sandbox
	}
	if k.sandbox == "" || c.bySandbox[k.sandbox] == k {
		return
	}
	if old := c.bySandbox[k.sandbox]; old != nil {
		if k.pod == "" {
			k.pod = old.pod
		}
		if k.device == "" {
			k.device = old.device
		}
		for _, a := range old.addresses {
			k.got(a)
		}
	}
	c.bySandbox[k.sandbox] = k
}

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

// leave takes a call out of those under way.
func (c *calls) leave(k *call) {
	list := slices.DeleteFunc(c.underWay[k.of], func(o *call) bool { return o == k })
	if len(list) == 0 {
		delete(c.underWay, k.of)
		return
	}
	c.underWay[k.of] = list
}
