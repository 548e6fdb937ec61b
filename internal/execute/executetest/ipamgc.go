package executetest

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/model"
)

// A collector is the IPAM garbage collector of calico-kube-controllers, with its cache: it
// does not read an allocation again that it has cached by handle and address (see
// planMisnamed in package repair).
type collector struct {
	w      *world
	events []write
	known  []*known
	task   *task
	batch  []*known
	block  netip.Prefix
	seen   *row
	// settled means that it has received all writes: its cache does not change any more.
	settled     bool
	gracePeriod int64 // garbage-collection grace period in seconds; 0: garbage collection is off
}

// known is a cached allocation, as the collector read it first.
type known struct {
	block                 netip.Prefix
	ip                    netip.Addr
	handle, node, ns, pod string
	tunnel                bool
	sequence              uint64
	candidate             int64 // since when it is a candidate for release; 0: it is not
	confirmed             bool
}

func newCollector(w *world) *collector {
	return &collector{w: w, gracePeriod: []int64{0, 60, 900, 3600}[w.pick(4)]}
}

func (c *collector) begin(w *world) { c.task = w.spawn("collector", nil, c.watch) }

// sees queues a write; watch processes it later.
func (c *collector) sees(ch write) {
	if ch.ref.Kind == model.KindBlock {
		c.events = append(c.events, ch)
	}
}

// restarts: a new process has an empty cache and reads everything.
func (c *collector) restarts(w *world) {
	c.known, c.events = nil, nil
	for _, r := range w.calico.all(model.KindBlock) {
		c.events = append(c.events, write{ref: r.ref, after: r})
	}
}

func (c *collector) watch(w *world, t *task) step {
	for _, e := range c.events {
		c.reads(e)
	}
	c.events = nil
	c.scan(w)
	for _, k := range c.known {
		if k.confirmed {
			c.block = k.block
			return c.read
		}
	}
	w.rests(t, time.Duration(c.gracePeriod/4+5)*time.Second, time.Duration(c.gracePeriod/2+10)*time.Second)
	return c.watch
}

// reads updates the cache from a block: new allocations are added, gone ones removed, cached
// ones not changed.
func (c *collector) reads(e write) {
	cidr, _ := netip.ParsePrefix(e.ref.Name)
	var b *object.Block
	if e.after != nil {
		b = e.after.value.(*object.Block)
	}
	is := func(k *known) bool {
		if b == nil {
			return false
		}
		at := holder(b, ordinalOf(k.ip))
		return at != nil && at.Handle.V == k.handle
	}
	c.known = slices.DeleteFunc(c.known, func(k *known) bool { return k.block == cidr && !is(k) })
	if b == nil {
		return
	}
	for o := range b.Allocations.V {
		at := holder(b, int32(o))
		ip := model.Offset(cidr, int32(o))
		if at == nil || at.Handle.V == "" || slices.ContainsFunc(c.known, func(k *known) bool { return k.ip == ip }) {
			continue
		}
		s := at.Secondary.V
		c.known = append(c.known, &known{
			block: cidr, ip: ip, handle: at.Handle.V, node: s["node"], ns: s["namespace"], pod: s["pod"],
			tunnel: strings.HasSuffix(s["type"], "TunnelAddress"), sequence: b.Sequences.V[strconv.Itoa(o)],
		})
	}
}

func (c *collector) scan(w *world) {
	now := w.now
	for _, k := range c.known {
		switch {
		case k.node == "" || c.valid(w, k):
			k.candidate, k.confirmed = 0, false
		case k.candidate == 0:
			k.candidate = now
		}
		gone := w.kube.get(nodeRef(k.node)) == nil
		k.confirmed = c.gracePeriod > 0 && k.candidate != 0 && (gone || now-k.candidate >= c.gracePeriod*second)
	}
	for _, k := range c.known { // release all allocations of a handle, or none
		if k.confirmed && slices.ContainsFunc(c.known, func(o *known) bool { return o.handle == k.handle && !o.confirmed }) {
			k.confirmed = false
		}
	}
}

func (c *collector) valid(w *world, k *known) bool {
	node := w.kube.get(nodeRef(k.node)) != nil
	if k.tunnel {
		return node
	}
	if k.pod == "" {
		return true
	}
	r := w.kube.get(podRef(k.ns, k.pod))
	if r == nil {
		return false
	}
	p := r.value.(*pod)
	switch {
	case node && p.Node != k.node:
		return false // Calico's issue 12257, if the node's name in IPAM is not its own
	case p.Phase == "Succeeded" || p.Phase == "Failed":
		return false
	case len(p.ips) == 0:
		return true
	default:
		return slices.Contains(p.ips, k.ip)
	}
}

func (c *collector) read(w *world, _ *task) step {
	c.seen = w.calico.get(blockRef(c.block))
	c.batch = nil
	for _, k := range c.known {
		if k.block == c.block && k.confirmed {
			c.batch = append(c.batch, k)
		}
	}
	if c.seen == nil || len(c.batch) == 0 {
		return c.pause
	}
	return c.release
}

// release releases the confirmed leaks of a block if handle and sequence number are as
// cached. One that differs fails the whole batch.
func (c *collector) release(w *world, _ *task) step {
	b := c.seen.value.(*object.Block)
	var ords []int32
	for _, k := range c.batch {
		o := ordinalOf(k.ip)
		at := holder(b, o)
		if at == nil || at.Handle.V != k.handle || b.Sequences.V[strconv.Itoa(int(o))] != k.sequence {
			if c.settled && at != nil && at.Handle.V == k.handle && w.wroteFor[k.ip] {
				w.harm("the IPAM garbage collector is stuck at %s: it has %s cached as it was before our write", k.block, k.ip)
			}
			return c.pause
		}
		ords = append(ords, o)
	}
	if _, ok := w.calico.swap(others, c.seen.ref, c.seen, &row{value: free(b, true, ords...)}); !ok {
		return c.pause
	}
	w.log("the IPAM garbage collector frees %d of %s", len(ords), c.block)
	for _, k := range c.batch {
		k.confirmed = false
	}
	return c.uncount
}

// uncount lowers the count of each handle by one, however many addresses were released.
func (c *collector) uncount(w *world, _ *task) step {
	for len(c.batch) > 0 {
		h := c.batch[0].handle
		r := w.calico.get(handleRef(h))
		if r == nil {
			c.batch = c.batch[1:]
			continue
		}
		var next *row
		if v := counted(r.value.(*object.Handle), c.block.String(), -1); v != nil {
			next = &row{value: v}
		}
		if _, ok := w.calico.swap(others, r.ref, r, next); ok {
			c.batch = slices.DeleteFunc(c.batch, func(k *known) bool { return k.handle == h })
		}
		return c.uncount
	}
	return c.watch
}

func (c *collector) pause(w *world, t *task) step {
	w.rests(t, 5*time.Second, 30*time.Second)
	return c.watch
}
