package executetest

import (
	"crypto/sha1" //nolint:gosec // Calico names devices by it
	"encoding/hex"
	"net/netip"
	"slices"
	"strconv"
)

// A node is a machine with the true state of its kernel and runtime.
type node struct {
	name   string   // Kubernetes'
	calico string   // by which its CNI plugin writes: another one is Calico's issue 12257
	called []string // the names that its agent published in this boot
	boot   int
	booted int64
	silent bool // its agent does not answer
	gvisor bool // some of its sandboxes have a network stack of their own
	taint  bool // a person declared it out of service, and it is off
	half   bool // its agent answers incompletely
	cut    bool // it is cut off from everybody, and what runs on it goes on running

	boxes []*box
	calls []*call
	cache []cached
	links []*link
	index int // of devices and namespaces given so far

	tunnel netip.Addr // of the device that is up
	kernel            // what else can be changed there
}

// A box is a pod's sandbox with its network namespace.
type box struct {
	id, ns, pod, uid string
	attempt          uint32
	listed           bool // the runtime shows it: only when its ADD is done
	ready            bool
	own              bool // it has a network stack of its own, as gVisor's: the kernel does not show its addresses
	netns            bool // its namespace is there
	pids             int
	inode            uint64
	ips              []netip.Addr // in its namespace
	told             []netip.Addr // what the runtime told of it
	link             int          // the host's end
	born             int64
	died             int64 // when it exited; 0 while it runs
}

// A call is a CNI plugin that runs.
type call struct {
	pid     int
	command string
	cid     string
	since   int64
	counts  map[netip.Prefix]int // what it has counted in its handle and not yet taken
	got     []netip.Addr         // what it was given
}

// cached is libcni's record of an attachment.
type cached struct {
	cid string
	ips []netip.Addr
}

// A link is a device of the host whose other end is in a namespace.
type link struct {
	index int
	name  string
	inode uint64
	since int64
}

func deviceName(ns, pod string) string {
	sum := sha1.Sum([]byte(ns + "." + pod)) //nolint:gosec // see above
	return "cali" + hex.EncodeToString(sum[:])[:11]
}

func (n *node) bootID() string { return "boot-" + n.name + "-" + strconv.Itoa(n.boot) }

func (n *node) box(cid string) *box {
	for _, b := range n.boxes {
		if b.id == cid {
			return b
		}
	}
	return nil
}

func (n *node) begins(w *world, command, cid string) *call {
	c := &call{pid: 500 + w.fresh(), command: command, cid: cid, since: w.now, counts: map[netip.Prefix]int{}}
	n.calls = append(n.calls, c)
	return c
}

func (n *node) ends(c *call) {
	n.calls = slices.DeleteFunc(n.calls, func(o *call) bool { return o == c })
}

// plug makes a device for a box. One of that name is removed first, as Calico does it.
func (n *node) plug(w *world, b *box, ips []netip.Addr) {
	name := deviceName(b.ns, b.pod)
	for _, l := range slices.Clone(n.links) {
		if l.name == name {
			n.unlink(l)
		}
	}
	n.index++
	n.links = append(n.links, &link{index: 10 + n.index, name: name, inode: b.inode, since: w.now})
	b.link, b.ips = 10+n.index, ips
}

// unlink removes a pair of devices, and with them what the other end had.
func (n *node) unlink(l *link) {
	n.links = slices.DeleteFunc(n.links, func(o *link) bool { return o == l })
	for _, b := range n.boxes {
		if b.inode == l.inode && b.link == l.index {
			b.ips, b.link = nil, 0
		}
	}
}

func (n *node) linkOf(b *box) *link {
	for _, l := range n.links {
		if l.inode == b.inode && l.index == b.link {
			return l
		}
	}
	return nil
}

// forget removes what is left of a box.
func (n *node) forget(b *box) {
	n.boxes = slices.DeleteFunc(n.boxes, func(o *box) bool { return o == b })
}

func (w *world) node(name string) *node {
	for _, n := range w.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// A user is who needs an address: a namespace that has it, or a call that was given it.
type user struct {
	handle string
	uid    string
	node   *node
	box    *box
}

// users gives all who need an address now.
func (w *world) users(ip netip.Addr) (out []user) {
	for _, n := range w.nodes {
		for _, b := range n.boxes {
			if b.netns && slices.Contains(b.ips, ip) {
				out = append(out, user{handleOf(b.id), b.uid, n, b})
			}
		}
		for _, c := range n.calls {
			if c.command == "ADD" && slices.Contains(c.got, ip) && !slices.ContainsFunc(out, func(u user) bool { return u.handle == handleOf(c.cid) }) {
				out = append(out, user{handle: handleOf(c.cid), node: n})
			}
		}
	}
	return out
}
