package repair

import (
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// planLeaked frees an address that is held for nobody. The unit is its handle: all that
// the handle holds, in all blocks, must be proven dead, or none of it is freed (R8).
func planLeaked(b *builder, f *finding.Finding) {
	ip, err := netip.ParseAddr(f.Subject.Name)
	a := b.view.AllocationOf(ip)
	if err != nil || a == nil || b.view.AttributeOf(a) == nil {
		b.refuse(f, "it is not held any more, or nobody can read by whom", "look again; PL1004 comes first")
		return
	}
	at := b.view.AttributeOf(a)
	if b.view.Stranger(at.Node) {
		b.refuse(f, "node "+at.Node+" is another cluster's, or of none", "repair it from there")
		return
	}
	held, why, what := b.allOfHandle(at, ip)
	if why != "" {
		b.refuse(f, why, what)
		return
	}
	d, why, what := b.notInUse(held)
	if why != "" {
		b.refuse(f, why, what)
		return
	}
	if why, what = b.gone(&d, at); why != "" {
		b.refuse(f, why, what)
		return
	}
	b.target(f, Safe, Proof{NotInUse: &d})
	for _, o := range held {
		key := "PL1001/" + o.IP.String()
		if key != f.Key() && b.planned[key] {
			continue // it has a finding of its own, under the same proof
		}
		block := b.view.BlockOf(o)
		from := &Held{Attribute: *b.view.AttributeOf(o), Sequence: block.SequenceOf(o.Ordinal)}
		b.step(writeOrdinals, f, "release", block.Ref(), Change{Ordinals: []Ordinal{{For: f.Key(), IP: o.IP, From: from}}})
		if e := b.endpointWith(o.IP); e != nil {
			b.link(f, e.Ref())
		}
	}
	b.recount(f, at.Handle, held)
}

// together gives all that a handle holds, if nobody living claims any of it.
func (b *builder) allOfHandle(at *model.Attribute, ip netip.Addr) (held []*model.Allocation, why, advice string) {
	if at.Handle == "" || at.Handle == model.WindowsHandle || at.Cooling {
		return nil, "it has no handle, so that nobody can tell whose it was", "ask its node; calicoctl ipam release --ip frees it without any check"
	}
	for a := range b.view.AllocationsBy(at.Handle) {
		other := b.view.AttributeOf(a)
		_, given := b.planned["PL1001/"+a.IP.String()]
		switch e := b.endpointWith(a.IP); {
		case other.Handle != at.Handle:
			return nil, "handle " + other.Handle + " differs by its spelling only", "repair PL1006 of it first"
		case b.claimed(a.IP):
			return nil, a.IP.String() + " of the same handle is in use", "it goes with the last of its addresses"
		case a.IP != ip && given && b.unconfirmed["PL1001/"+a.IP.String()]:
			return nil, a.IP.String() + " of the same handle is only suspected", "plan again when that is decided"
		case e != nil && !b.repaired["PL2002/"+e.Ref().Name]:
			return nil, "endpoint " + e.Ref().Name + " still has " + a.IP.String(), "repair PL2002/" + e.Ref().Name + " first, or with it"
		}
		held = append(held, a)
	}
	slices.SortFunc(held, func(x, y *model.Allocation) int { return x.IP.Compare(y.IP) })
	return held, "", ""
}

// gone adds who must be gone for good besides the container. Why is not empty if one is
// not: what belongs to a service, a tunnel or a machine is never freed while that exists.
func (b *builder) gone(d *NotInUse, at *model.Attribute) (why, advice string) {
	ns, pod := at.PodName()
	var owner model.Ref
	var there bool
	switch vm := at.Machine(); {
	case strings.HasPrefix(at.Type, "LoadBalancer") || at.Service != "":
		owner, there = model.Ref{Kind: model.KindService, Name: at.Namespace + "/" + at.Service}, b.view.ServiceByName(at.Namespace, at.Service) != nil
	case at.Tunnel():
		owner, there = model.Ref{Kind: model.KindNode, Name: at.Node}, b.view.NodeByName(at.Node) != nil
	case vm != "" && !b.view.State(model.VMs, "").Seen():
		return "machines were not seen", "let Plumbline read virtualmachines.kubevirt.io"
	case vm != "":
		owner, there = model.Ref{Kind: model.KindVM, Name: at.Namespace + "/" + vm}, b.view.VMByName(at.Namespace, vm) != nil
	case pod == "":
		return "it names nobody, so that nobody can be proven gone", "ask its node; calicoctl ipam release --ip frees it without any check"
	default:
		d.Gone = append(d.Gone, PodIs{Namespace: ns, Name: pod, Not: slices.Clone(d.IPs)})
		return "", ""
	}
	if there {
		return owner.String() + " exists", "it is its owner's until that is gone"
	}
	if !slices.Contains(d.Absent, owner) {
		d.Absent = append(d.Absent, owner)
	}
	return "", ""
}

// recount makes a handle say what its blocks hold when all else is done. It may only be
// lowered while it is as it was seen: an ADD counts before it allocates.
func (b *builder) recount(f *finding.Finding, id string, held []*model.Allocation) {
	c := &Count{Handle: sanitized(id)}
	for _, a := range held {
		if cidr := b.view.BlockOf(a).CIDR; !slices.Contains(c.Blocks, cidr) {
			c.Blocks = append(c.Blocks, cidr)
		}
	}
	if h := b.handleOf(id); h != nil {
		c.Unchanged = h.Revision
		for _, n := range h.Blocks {
			if !slices.Contains(c.Blocks, n.CIDR) {
				c.Blocks = append(c.Blocks, n.CIDR)
			}
		}
	}
	b.step(recountHandles, f, "recount", handleRef(id), Change{Count: c})
}
