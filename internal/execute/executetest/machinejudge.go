package executetest

import (
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// judgeRestarted: the next calico-node is restarted when the one before is Ready.
func (w *world) judgeRestarted(ref model.Ref, p *pod) {
	for name := range w.restarts {
		if r := w.kube.get(nodeRef(name)); name != p.Node && r != nil && r.value.(*machine).Ready {
			w.harm("%s is restarted, and calico-node on %s is not ready since we restarted it", ref, name)
		}
	}
	if p.Ready { // one that was not need not become
		w.restarts[p.Node] = true
	}
}

// judgeRemoved: the runtime ends whatever is in a sandbox, and its DEL carries the pod's name.
func (w *world) judgeRemoved(n *node, b *box) {
	name := podRef(b.ns, b.pod)
	if k := w.worker(b.uid); k != nil && k.box == b {
		w.harm("sandbox %s of %s was removed, and the kubelet has its pod", b.id, name)
	}
	if r := w.kube.get(name); r != nil && w.born[name] < w.looked[name] {
		w.harm("sandbox %s was removed, and %s exists, which its DEL names", b.id, name)
	}
	for _, c := range n.calls {
		if c.cid == b.id {
			w.harm("sandbox %s was removed, and its %s runs", b.id, c.command)
		}
	}
}

// judgeUnrouted: no route may be deleted that leads to who has the address.
func (w *world) judgeUnrouted(n *node, ip netip.Addr, link int) {
	for _, b := range n.boxes {
		if b.netns && b.link == link && slices.Contains(b.ips, ip) {
			w.harm("the route to %s on %s was deleted, and it led to %s/%s, which has the address", ip, n.name, b.ns, b.pod)
		}
	}
}

// judgeForgotten: no entry may be deleted that is right.
func (w *world) judgeForgotten(n *node, e entry) {
	for _, b := range n.boxes {
		if b.netns && b.link == e.link && slices.Contains(b.ips, e.ip) && e.mac == podMAC {
			w.harm("the neighbour entry of %s on %s was deleted, and it was that of %s/%s", e.ip, n.name, b.ns, b.pod)
		}
	}
}

// judgeAborted: an aborted connection never comes back.
func (w *world) judgeAborted(n *node, u *fuse, named string) {
	switch {
	case !u.hung:
		w.harm("%s on %s was aborted, and it answered", u.source, n.name)
	case u.layer != "":
		w.harm("%s on %s was aborted, and %s lies on it", u.source, n.name, u.layer)
	}
	for _, uid := range slices.Concat(u.users, u.hidden) {
		r := w.podByUID(uid)
		if r == nil || r.value.(*pod).Deleted || r.value.(*pod).Node != n.name || r.value.(*pod).Phase != "Running" {
			continue
		}
		visible := slices.Contains(u.users, uid)
		if w.consent != change.Destructive || visible && !slices.Contains(strings.Split(named, ","), uid) {
			w.harm("%s on %s was aborted, and %s uses it", u.source, n.name, r.ref)
		}
	}
}

func (w *world) podByUID(uid string) *row {
	for _, r := range w.kube.all(model.KindPod) {
		if r.uid == uid {
			return r
		}
	}
	return nil
}
