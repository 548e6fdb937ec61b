package executetest

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// harm records the first violation of a safety rule by a write of Plumbline.
func (w *world) harm(format string, args ...any) {
	if w.broken == nil {
		w.broken = fmt.Errorf(format, args...)
		w.log("HARM: %s", w.broken)
	}
}

// judge checks every write of Plumbline against the true state at that moment.
func (w *world) judge(c write) {
	switch c.ref.Kind {
	case model.KindBlock:
		w.judgeBlock(c)
	case model.KindHandle:
		w.judgeHandle(c)
	case model.KindAffinity:
		w.judgeAffinity(c)
	case model.KindPod:
		w.judgePod(c)
	case model.KindEndpoint:
		w.judgeEndpoint(c)
	default:
		w.harm("a %s was written", c.ref)
	}
}

func (w *world) judgeBlock(c write) {
	before, after := valueOf[object.Block](c.before), valueOf[object.Block](c.after)
	cidr := netip.MustParsePrefix(c.ref.Name)
	if before != nil && after != nil {
		switch {
		case after.Sequence.V <= before.Sequence.V:
			w.harm("%s: its sequence number went from %d to %d", c.ref, before.Sequence.V, after.Sequence.V)
		case before.Affinity.V != after.Affinity.V:
			w.harm("%s: its owner went from %q to %q", c.ref, before.Affinity.V, after.Affinity.V)
		case !kept(before.Extra, after.Extra) || !bytes.Equal(before.AffinityClaimTime.V, after.AffinityClaimTime.V):
			w.harm("%s: an unknown field was lost", c.ref)
		case sound(before) && !sound(after):
			w.harm("%s: it was sound and is not: %s", c.ref, c.after.json())
		}
	}
	for o := range int32(perBlock) {
		was, is := ownerOf(before, o), ownerOf(after, o)
		ip := model.Offset(cidr, o)
		if was == is {
			if is != free0 && before.Sequences.V[strconv.Itoa(int(o))] != after.Sequences.V[strconv.Itoa(int(o))] {
				w.wroteFor[ip] = true // allocated again to the same handle
			}
			continue
		}
		if is == free0 {
			w.freed[ip] = w.judgeFreed(ip, was)
		} else {
			w.judgeGiven(ip, was, is)
			w.wroteFor[ip] = true
			delete(w.freed, ip)
		}
		if is != free0 && !ours(is) && w.lacks(is, cidr, after) && !w.lacks(is, cidr, before) {
			w.harm("%s is given to %s, which does not count it yet", ip, is)
		}
	}
}

func valueOf[T any](r *row) *T {
	if r == nil {
		return nil
	}
	return r.value.(*T)
}

func kept(before, after lossless.Extra) bool {
	for k, v := range before {
		if !bytes.Equal(v, after[k]) {
			return false
		}
	}
	return true
}

// What an ordinal can be besides held by a handle.
const (
	free0  = ""
	nobody = "?"
)

func ownerOf(b *object.Block, o int32) string {
	switch {
	case b == nil || !held(b, o):
		return free0
	case holder(b, o) == nil:
		return nobody
	default:
		return holder(b, o).Handle.V
	}
}

// ours reports that a handle is one of Plumbline's own, which has no object.
func ours(handle string) bool {
	return model.OwnHandle(handle)
}

// judgeFreed reports whether it is our doing if somebody who uses the address loses it from now on.
func (w *world) judgeFreed(ip netip.Addr, was string) bool {
	if us := w.users(ip); len(us) > 0 {
		if !slices.ContainsFunc(us, func(u user) bool { return !w.unseen(u.node) && !robbed(u, was) }) {
			w.unknown++
			return false
		}
		w.harm("%s was freed, and %s on %s uses it", ip, us[0].handle, us[0].node.name)
		return true
	}
	for _, n := range w.nodes {
		if n.tunnel == ip {
			w.harm("%s was freed, and is the tunnel of %s", ip, n.name)
		}
		for _, b := range n.boxes {
			if handleOf(b.id) == was && b.netns && b.died == 0 {
				w.harm("%s was freed, and its handle's sandbox %s runs with %v", ip, b.id, b.ips)
			}
		}
		for _, c := range n.calls {
			if c.command == "ADD" && handleOf(c.cid) == was {
				w.harm("%s was freed, and the ADD of %s runs", ip, c.cid)
			}
		}
	}
	return true
}

// unseen is a machine that nothing shows: it has no Node object, so no agent is asked, and Calico on it uses the name of
// another node (its issue 12257), so that records name that one. Such harm is counted, and not prevented (docs/threat-model.md).
func (w *world) unseen(n *node) bool {
	return n.calico != n.name && w.kube.get(nodeRef(n.name)) == nil
}

// robbed is an ADD that hangs with an address which IPAM has recorded for another since: only the process of the plugin knows that it
// was given it.
func robbed(u user, owner string) bool {
	return u.box == nil && u.handle != owner
}

// hasAffinity reports whether any block has an affinity for the name.
func (w *world) hasAffinity(name string) bool {
	return slices.ContainsFunc(w.calico.all(model.KindAffinity), func(r *row) bool {
		node, _ := affinityOf(r.ref.Name)
		return node == name
	})
}

// judgeGiven: an address in use may be recorded only for its user. A sandbox that exited after
// the verification counts as running: the repair is undone then.
func (w *world) judgeGiven(ip netip.Addr, was, is string) {
	us := w.users(ip)
	if ours(is) {
		w.heldFrom[ip] = was
	}
	if ours(was) && w.heldFrom[ip] == is {
		return // the owner before our temporary handle
	}
	if len(us) == 0 || ours(is) || slices.ContainsFunc(us, func(u user) bool { return u.handle == is }) {
		return
	}
	for _, d := range w.dead {
		if handleOf(d.id) == is && d.died >= w.asked {
			return
		}
	}
	w.harm("%s went from %q to %s, and %s on %s uses it", ip, was, is, us[0].handle, us[0].node.name)
}

// lacks reports that a handle counts less than a block holds for it.
func (w *world) lacks(handle string, cidr netip.Prefix, b *object.Block) bool {
	if b == nil {
		return false
	}
	h := valueOf[object.Handle](w.calico.get(handleRef(handle)))
	n := 0
	if h != nil {
		n = h.Block.V[cidr.String()]
	}
	return n < countOf(b, handle)
}

// judgeHandle: a count may never be smaller than what is held, or about to be.
func (w *world) judgeHandle(c write) {
	before, after := valueOf[object.Handle](c.before), valueOf[object.Handle](c.after)
	if before != nil && after != nil && !kept(before.Extra, after.Extra) {
		w.harm("%s: an unknown field was lost", c.ref)
	}
	count := func(h *object.Handle, cidr string) int {
		if h == nil {
			return 0
		}
		return h.Block.V[cidr]
	}
	for _, r := range w.calico.all(model.KindBlock) {
		n := countOf(r.value.(*object.Block), c.ref.Name)
		cidr := netip.MustParsePrefix(r.ref.Name)
		for _, m := range w.nodes {
			for _, k := range m.calls {
				switch {
				case handleOf(k.cid) != c.ref.Name || k.counts[cidr] <= 0:
				case w.unseen(m) || w.kube.get(nodeRef(m.name)) == nil && !w.hasAffinity(m.calico): // nothing says that there is such a machine
					w.unknown++
				default:
					n += k.counts[cidr]
				}
			}
		}
		if is, was := count(after, r.ref.Name), count(before, r.ref.Name); is < n && is < was {
			w.harm("%s counts %d in %s, which holds or is about to hold %d", c.ref, is, r.ref.Name, n)
		}
	}
}

// sound reports that every ordinal is exactly once either allocated or free.
func sound(b *object.Block) bool {
	seen := make([]int, len(b.Allocations.V))
	for _, o := range b.Unallocated.V {
		if o < 0 || int(o) >= len(seen) {
			return false
		}
		seen[o]++
	}
	for o := range b.Allocations.V {
		if held(b, int32(o)) {
			if holder(b, int32(o)) == nil {
				return false
			}
			seen[o]++
		}
		if seen[o] != 1 {
			return false
		}
	}
	for _, n := range b.Sequences.V {
		if n > b.Sequence.V {
			return false
		}
	}
	return true
}
