package executetest

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// An add is a CNI ADD of Calico's, in its real order: affinity and block if it needs one,
// handle, block, devices, annotation or endpoint.
type add struct {
	n      *node
	b      *box
	call   *call
	fours  []bool // families that are still to be had
	cidr   netip.Prefix
	seen   *row
	ips    []netip.Addr
	bare   bool // AssignIP's way: on a conflict it counts again and takes nothing back
	tries  int
	worked step // what comes after it
	failed step
}

func (a *add) handle() string { return handleOf(a.b.id) }

// secondary is what Calico writes beside the handle.
func (a *add) secondary() map[string]string {
	return map[string]string{"namespace": a.b.ns, "pod": a.b.pod, "node": a.n.calico, "timestamp": "2023-11-14 22:13:20 +0000 UTC"}
}

// find takes a block of its own node's that has a free ordinal; IPAM finds affinities by
// their labels only.
func (a *add) find(w *world, _ *task) step {
	if a.tries++; a.tries > 30 {
		return a.cleanup
	}
	for _, r := range w.calico.all(model.KindAffinity) {
		at := r.value.(*object.Affinity)
		if node, cidr := affinityOf(r.ref.Name); node == a.n.calico && cidr.Addr().Is4() == a.fours[0] && (w.etcd || len(r.labels) > 0) && at.State.V == "confirmed" {
			if b := w.block(cidr); b != nil && len(b.Unallocated.V) > 0 {
				a.cidr = cidr
				return a.countRead
			}
		}
	}
	if w.one(4) { // borrow, rather than claim
		for _, r := range w.calico.all(model.KindBlock) {
			if b := r.value.(*object.Block); len(b.Unallocated.V) > 0 && b.Affinity.V != "" {
				if cidr := netip.MustParsePrefix(r.ref.Name); cidr.Addr().Is4() == a.fours[0] {
					a.cidr = cidr
					return a.countRead
				}
			}
		}
	}
	return (&claim{n: a.n, four: a.fours[0], done: a.find}).choose
}

func affinityOf(name string) (string, netip.Prefix) {
	node, cidr, _ := strings.Cut(name, "/")
	p, _ := netip.ParsePrefix(cidr)
	return node, p
}

func (w *world) block(cidr netip.Prefix) *object.Block {
	if r := w.calico.get(blockRef(cidr)); r != nil {
		return r.value.(*object.Block)
	}
	return nil
}

func (a *add) countRead(w *world, _ *task) step {
	a.seen = w.calico.get(handleRef(a.handle()))
	return a.countWrite
}

func (a *add) countWrite(w *world, t *task) step {
	next := newHandle(a.handle(), a.cidr.String(), 1, w.etcd)
	if a.seen != nil {
		next = counted(a.seen.value.(*object.Handle), a.cidr.String(), 1)
	}
	if _, ok := w.calico.swap(others, handleRef(a.handle()), a.seen, &row{value: next}); !ok {
		return a.countRead
	}
	a.call.counts[a.cidr]++
	if w.one(30) {
		w.rests(t, time.Minute, 20*time.Minute) // it is stopped, or the disk is
	}
	return a.takeRead
}

func (a *add) takeRead(w *world, _ *task) step {
	a.seen = w.calico.get(blockRef(a.cidr))
	if a.seen == nil {
		return a.uncount(a.find)
	}
	return a.takeWrite
}

func (a *add) takeWrite(w *world, t *task) step {
	next, ord := assign(a.seen.value.(*object.Block), -1, a.handle(), a.secondary())
	if next == nil {
		return a.uncount(a.find)
	}
	if _, ok := w.calico.swap(others, blockRef(a.cidr), a.seen, &row{value: next}); !ok {
		if a.bare { // Calico forgets that it has counted
			a.call.counts[a.cidr]--
			return a.countRead
		}
		return a.uncount(a.find)
	}
	ip := model.Offset(a.cidr, ord)
	w.gave(ip, a.handle())
	a.call.counts[a.cidr]--
	a.call.got, a.ips = append(a.call.got, ip), append(a.ips, ip)
	if a.fours = a.fours[1:]; len(a.fours) > 0 {
		return a.find
	}
	if w.one(25) {
		w.rests(t, time.Minute, 30*time.Minute)
	}
	return a.plug
}

// uncount takes back what was counted, and goes on.
func (a *add) uncount(then step) step {
	return func(w *world, _ *task) step {
		r := w.calico.get(handleRef(a.handle()))
		if r == nil {
			a.call.counts[a.cidr]--
			return then
		}
		var next *row
		if h := counted(r.value.(*object.Handle), a.cidr.String(), -1); h != nil {
			next = &row{value: h}
		}
		w.calico.swap(others, r.ref, r, next)
		a.call.counts[a.cidr]--
		return then
	}
}

func (a *add) plug(w *world, _ *task) step {
	if !a.b.netns {
		return a.cleanup
	}
	a.n.plug(w, a.b, a.ips)
	return a.publish
}

// publish writes what Felix goes by. Its patch carries the pod's UID and no revision: the
// newest ADD always wins.
func (a *add) publish(w *world, _ *task) step {
	r := w.kube.get(podRef(a.b.ns, a.b.pod))
	if r == nil || r.uid != "" && r.uid != a.b.uid {
		return a.cleanup
	}
	if w.etcd {
		ref := endpointRef(a.n.calico, a.b.ns, a.b.pod)
		w.calico.swap(others, ref, w.calico.get(ref), &row{value: newEndpoint(w, a)})
		return a.done
	}
	p := *r.value.(*pod)
	p.PodIP, p.PodIPs = single(a.ips[0]).String(), joined(a.ips)
	p.ContainerID, p.Annotated = a.b.id, true
	w.kube.swap(others, r.ref, r, &row{value: &p})
	return a.done
}

func joined(ips []netip.Addr) string {
	var out []string
	for _, ip := range ips {
		out = append(out, single(ip).String())
	}
	return strings.Join(out, ",")
}

func (a *add) done(*world, *task) step {
	a.n.ends(a.call)
	a.n.cache = append(a.n.cache, cached{a.b.id, slices.Clone(a.ips)})
	a.b.listed, a.b.ready, a.b.pids = true, true, 2
	return a.worked
}

// cleanup is what the plugin does when it fails: it releases what it was given.
func (a *add) cleanup(*world, *task) step {
	d := &del{n: a.n, cid: a.b.id, ns: a.b.ns, pod: a.b.pod, b: a.b, call: a.call, then: a.failed}
	return d.handleRead
}

// A claim takes a new block for a node: affinity pending, block, affinity confirmed.
type claim struct {
	n    *node
	four bool
	cidr netip.Prefix
	done step
}

func (c *claim) choose(w *world, _ *task) step {
	for i := range 32 {
		c.cidr = blockCIDR(i, c.four)
		if w.calico.get(blockRef(c.cidr)) == nil {
			break
		}
	}
	next := &row{value: newAffinity(w, c.n.calico, c.cidr, "pending"), labels: affinityLabels(w, c.n.calico, c.four)}
	ref := affinityRef(c.n.calico, c.cidr)
	w.calico.swap(others, ref, w.calico.get(ref), next)
	return c.create
}

func (c *claim) create(w *world, _ *task) step {
	next := newBlock(c.cidr, "host:"+c.n.calico, firstWord+uint64(w.now))
	if _, ok := w.calico.swap(others, blockRef(c.cidr), nil, &row{value: next}); !ok {
		if b := w.block(c.cidr); b.Affinity.V != "host:"+c.n.calico {
			ref := affinityRef(c.n.calico, c.cidr)
			w.calico.swap(others, ref, w.calico.get(ref), nil)
			return c.done
		}
	}
	return c.confirm
}

func (c *claim) confirm(w *world, _ *task) step {
	ref := affinityRef(c.n.calico, c.cidr)
	if r := w.calico.get(ref); r != nil {
		w.calico.swap(others, ref, r, &row{value: newAffinity(w, c.n.calico, c.cidr, "confirmed"), labels: r.labels})
	}
	return c.done
}

func newAffinity(w *world, node string, cidr netip.Prefix, state string) *object.Affinity {
	a := &object.Affinity{State: lossless.Some(state), Deleted: lossless.Some(json.RawMessage(`"false"`))}
	if w.etcd {
		a.Deleted.V = json.RawMessage("false")
		return a
	}
	a.Node, a.CIDR, a.Type = lossless.Some(node), lossless.Some(cidr.String()), lossless.Some("host")
	return a
}
