package executetest

import (
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/calico/object"
)

func (w *world) judgeAffinity(c write) {
	node, cidr := affinityOf(c.ref.Name)
	b := w.block(cidr)
	before, after := valueOf[object.Affinity](c.before), valueOf[object.Affinity](c.after)
	switch {
	case after == nil && b != nil && b.Affinity.V == "host:"+node && !empty(b):
		w.harm("%s was removed, and its block holds addresses", c.ref)
	case before != nil && after != nil && !kept(before.Extra, after.Extra):
		w.harm("%s: an unknown field was lost", c.ref)
	case after != nil && after.State.V == "confirmed" && b != nil && b.Affinity.V != "host:"+node && (before == nil || before.State.V != "confirmed"):
		w.harm("%s was confirmed, and the block is %q's", c.ref, b.Affinity.V)
	}
}

func (w *world) judgePod(c write) {
	before, after := valueOf[pod](c.before), valueOf[pod](c.after)
	if before == nil || after == nil {
		w.harm("%s was made or removed by us", c.ref)
		return
	}
	if after.Deleted && !before.Deleted && (before.Owner == nodeOwner) {
		w.judgeRestarted(c.ref, before)
		return
	}
	if after.Deleted && !before.Deleted {
		w.judgeEvicted(c.before)
		return
	}
	if before.Deleted && after.PodIP != "" {
		w.harm("%s ends, and was annotated", c.ref)
	}
	if after.PodIP != "" {
		w.judgeShown(c.ref.String(), c.before.uid, after.ContainerID, prefixAddrs(strings.Split(after.PodIPs, ",")))
	} else if b := w.boxOf(c.before.uid); b != nil && b.ready && b.id == before.ContainerID && before.PodIP != "" {
		w.harm("%s: the annotation of a running sandbox was cleared", c.ref)
	}
}

func prefixAddrs(texts []string) (out []netip.Addr) {
	for _, t := range texts {
		if p, err := netip.ParsePrefix(t); err == nil {
			out = append(out, p.Addr())
		}
	}
	return out
}

// boxOf gives the newest listed sandbox of a pod.
func (w *world) boxOf(uid string) *box {
	var out *box
	for _, n := range w.nodes {
		for _, b := range n.boxes {
			if b.uid == uid && b.listed && (out == nil || b.attempt > out.attempt) {
				out = b
			}
		}
	}
	return out
}

// judgeShown: Felix routes an address to the pod that publishes it, so the sandbox must run with it and IPAM must name it.
func (w *world) judgeShown(what, uid, container string, ips []netip.Addr) {
	for _, d := range w.dead {
		if d.id == container && d.died >= w.asked {
			return // it exited after the verification
		}
	}
	b := w.boxOf(uid)
	if b == nil || b.id != container || !b.ready {
		w.harm("%s: publishes sandbox %s, which is not running", what, container)
		return
	}
	for _, ip := range ips {
		if !slices.Contains(b.ips, ip) {
			w.harm("%s: publishes %s, which its sandbox does not have", what, ip)
		} else if at, block := w.holderOf(ip), blockRef(blockOf(ip)); at != handleOf(b.id) && !ours(at) && w.changed[block] < w.looked[block] {
			w.harm("%s: publishes %s before IPAM names it (%q)", what, ip, at)
		}
	}
}

func (w *world) holderOf(ip netip.Addr) string { return ownerOf(w.block(blockOf(ip)), ordinalOf(ip)) }

// judgeEvicted: only who shares an address may be ended, and only when IPAM has it
// for the one that stays: the DEL of the other would free it under him.
func (w *world) judgeEvicted(r *row) {
	b := w.boxOf(r.uid)
	if b == nil || !b.ready {
		return // it had already exited
	}
	shared := false
	for _, ip := range b.ips {
		if w.shared[ip] {
			shared = true
			if w.holderOf(ip) == handleOf(b.id) {
				w.harm("%s is evicted, and IPAM has %s for it", r.ref, ip)
			}
		}
	}
	if !shared {
		w.harm("%s is evicted, and shares no address", r.ref)
	}
}

func (w *world) judgeEndpoint(c write) {
	before, after := valueOf[endpoint](c.before), valueOf[endpoint](c.after)
	if after != nil {
		if before != nil {
			for k, v := range before.raw {
				if k != "spec" && string(v) != string(after.raw[k]) {
					w.harm("%s: %s was changed", c.ref, k)
				}
			}
		}
		ns, _, _ := strings.Cut(c.ref.Name, "/")
		if r := w.kube.get(podRef(ns, after.spec.Pod.V)); r != nil {
			w.judgeShown(c.ref.String(), r.uid, after.spec.ContainerID.V, after.ips)
		}
		return
	}
	for _, n := range w.nodes {
		if b := n.box(before.spec.ContainerID.V); b != nil && b.ready && n.calico == before.spec.Node.V {
			if w.unseen(n) {
				w.unknown++
				continue
			}
			w.harm("%s was removed, and its sandbox runs", c.ref)
		}
	}
}

// gave is called when Calico gives an address out: if one has it already, and it was free
// by our hand, we have given it twice.
func (w *world) gave(ip netip.Addr, handle string) {
	us := w.users(ip)
	if w.freed[ip] && len(us) > 0 {
		w.harm("%s was freed by us and is given to %s, and %s uses it", ip, handle, us[0].handle)
	}
	delete(w.freed, ip)
	if len(us) > 0 {
		w.shared[ip] = true
	}
}
