package planner

import (
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planLeaked releases an address that is not in use. The unit is its handle: all addresses
// of the handle, in all blocks, must be verified as not in use, or none is released.
func planLeaked(b *builder, f *finding.Finding) *repair.Refusal {
	ip, err := netip.ParseAddr(f.Subject.Name)
	a := b.view.AllocationOf(ip)
	if err != nil || a == nil || b.view.AttributeOf(a) == nil {
		return &repair.Refusal{Why: "the address is not allocated any more, or its attribute is not readable", Advice: "run plumbline check again; repair PL1004 first"}
	}
	at := b.view.AttributeOf(a)
	if b.view.Stranger(at.Node) {
		return &repair.Refusal{Why: "node " + at.Node + " belongs to another cluster, or to none", Advice: "repair it from that cluster"}
	}
	held, no := b.allOfHandle(at, ip)
	if no != nil {
		return no
	}
	d, no := b.notInUse(held)
	if no != nil {
		return no
	}
	if no := b.gone(&d, at); no != nil {
		return no
	}
	t := b.target(f, change.Safe, change.Proof{NotInUse: &d})
	if at.Hold() {
		t.NoUndo = "the hold of an interrupted repair is not restored"
	}
	for _, o := range held {
		key := finding.KeyOf(finding.PL1001, o.IP.String())
		if key != f.Key() && b.planned[key] {
			continue // it has its own finding with the same proof
		}
		block := b.view.BlockOf(o)
		from := &change.Held{Attribute: *b.view.AttributeOf(o), Sequence: block.SequenceOf(o.Ordinal)}
		b.step(writeOrdinals, f, "release", block.Ref(), change.Ordinals{{For: f.Key(), IP: o.IP, From: from}})
		if e := b.endpointWith(o.IP); e != nil {
			b.link(f, e.Ref())
		}
	}
	if !at.Hold() { // a hold has no handle object
		b.recount(f, at.Handle, held)
	}
	return nil
}

// allOfHandle gives all allocations of a handle. It refuses if any of them may be in use.
func (b *builder) allOfHandle(at *model.Attribute, ip netip.Addr) (held []*model.Allocation, no *repair.Refusal) {
	if at.Handle == "" || at.Handle == model.WindowsHandle || at.Cooling {
		return nil, &repair.Refusal{Why: "the allocation has no handle, so its owner is not known", Advice: "find out on its node who had it: plumbline explain ip ADDRESS; it stays allocated until then"}
	}
	for a := range b.view.AllocationsBy(at.Handle) {
		other := b.view.AttributeOf(a)
		_, given := b.planned[finding.KeyOf(finding.PL1001, a.IP.String())]
		switch e := b.endpointWith(a.IP); {
		case other.Handle != at.Handle:
			return nil, &repair.Refusal{Why: "handle " + other.Handle + " differs only in spelling", Advice: "repair its PL1006 first"}
		case b.claimed(a.IP):
			return nil, &repair.Refusal{Why: a.IP.String() + " of the same handle is in use", Advice: "it is released with the last address of the handle"}
		case a.IP != ip && given && b.unconfirmed[finding.KeyOf(finding.PL1001, a.IP.String())]:
			return nil, &repair.Refusal{Why: a.IP.String() + " of the same handle is unconfirmed", Advice: "plan again when that is confirmed"}
		case e != nil && !b.repaired[finding.KeyOf(finding.PL2002, e.Ref().Name)]:
			return nil, &repair.Refusal{Why: "endpoint " + e.Ref().Name + " still has " + a.IP.String(), Advice: "repair PL2002/" + e.Ref().Name + " first, or with it"}
		}
		held = append(held, a)
	}
	slices.SortFunc(held, func(x, y *model.Allocation) int { return x.IP.Compare(y.IP) })
	return held, nil
}

// gone adds to d the owner that must not exist: the pod, service, node or VM of the
// attribute. It refuses if the owner exists: an address of a service, tunnel or VM is
// never released while that exists.
func (b *builder) gone(d *change.NotInUse, at *model.Attribute) *repair.Refusal {
	ns, pod := at.PodName()
	var owner model.Ref
	var there bool
	switch vm := at.Machine(); {
	case strings.HasPrefix(at.Type, "LoadBalancer") || at.Service != "":
		owner, there = model.Ref{Kind: model.KindService, Name: at.Namespace + "/" + at.Service}, b.view.ServiceByName(at.Namespace, at.Service) != nil
	case at.Tunnel():
		owner, there = model.Ref{Kind: model.KindNode, Name: at.Node}, b.view.NodeByName(at.Node) != nil
	case vm != "" && !b.view.State(model.VMs, "").Seen():
		return &repair.Refusal{Why: "virtual machines were not checked", Advice: "give Plumbline read access to virtualmachines.kubevirt.io"}
	case vm != "":
		owner, there = model.Ref{Kind: model.KindVM, Name: at.Namespace + "/" + vm}, b.view.VMByName(at.Namespace, vm) != nil
	case at.Hold():
		return nil // it names nobody: all nodes verify
	case pod == "":
		return &repair.Refusal{Why: "the allocation names no owner that could be verified as gone", Advice: "find out on its node who had it: plumbline explain ip ADDRESS; it stays allocated until then"}
	default:
		d.Gone = append(d.Gone, change.PodIs{Namespace: ns, Name: pod, Not: slices.Clone(d.IPs)})
		return nil
	}
	if there {
		return &repair.Refusal{Why: owner.String() + " exists", Advice: "the address belongs to it until it is deleted"}
	}
	if !slices.Contains(d.Absent, owner) {
		d.Absent = append(d.Absent, owner)
	}
	return nil
}
