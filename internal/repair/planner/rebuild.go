package planner

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// rebuild gives the findings of a rebuild: IPAM blocks are rebuilt from running pods. The
// result is an ordinary plan. Findings whose repair releases nothing are planned even if
// unconfirmed or explained by others: their live verification decides. Findings whose repair
// releases something are planned only if confirmed.
func (b *builder) rebuild(fs []finding.Finding) []finding.Finding {
	fs = slices.DeleteFunc(fs, func(f finding.Finding) bool { return !b.rebuilds(&f) })
	for i := range fs {
		if b.gives(&fs[i]) {
			fs[i].State = finding.Confirmed
		}
	}
	have := map[string]bool{}
	for i := range fs {
		have[fs[i].Key()] = true
	}
	b.lacks(func(f finding.Finding) {
		if !have[f.Key()] {
			have[f.Key()] = true
			f.State, f.Severity = finding.Confirmed, finding.Error
			fs = append(fs, f)
		}
	})
	b.untouched()
	return fs
}

// rebuilds reports that a finding is about the blocks that are rebuilt.
func (b *builder) rebuilds(f *finding.Finding) bool {
	switch f.Subject.Kind {
	case model.KindAddress:
		ip, err := netip.ParseAddr(f.Subject.Name)
		return err == nil && strings.HasPrefix(string(f.Code), "PL1") && b.within(netip.PrefixFrom(ip, ip.BitLen()))
	case model.KindBlock:
		cidr, err := netip.ParsePrefix(f.Subject.Name)
		return err == nil && b.within(cidr)
	case model.KindAffinity:
		a := b.affinity(f.Subject)
		return a != nil && b.within(a.CIDR)
	case model.KindHandle:
		h := b.handleOf(f.Subject.Name)
		return h != nil && b.touches(h)
	default:
		return false
	}
}

// within reports that a range is within the blocks that are rebuilt.
func (b *builder) within(p netip.Prefix) bool {
	return len(b.o.Blocks) == 0 || slices.ContainsFunc(b.o.Blocks, func(c netip.Prefix) bool { return c.Bits() <= p.Bits() && c.Contains(p.Addr()) })
}

func (b *builder) touches(h *model.Handle) bool {
	if slices.ContainsFunc(h.Blocks, func(c model.BlockCount) bool { return b.within(c.CIDR) }) {
		return true
	}
	for a := range b.view.AllocationsBy(h.ID) {
		if b.within(b.view.BlockOf(a).CIDR) {
			return true
		}
	}
	return false
}

// gives reports that the repair of a finding releases nothing.
func (b *builder) gives(f *finding.Finding) bool {
	switch f.Code {
	case finding.PL1002, finding.PL1004:
		return true
	case finding.PL1006:
		h := b.handleOf(f.Subject.Name)
		return h != nil && b.short(h)
	case finding.PL1008:
		ip, err := netip.ParseAddr(f.Subject.Name)
		return err == nil && b.view.AllocationOf(ip) == nil && b.otherThanTunnel(ip) == ""
	default:
		return false
	}
}

// short reports that a handle is missing or counts less than the blocks hold.
func (b *builder) short(h *model.Handle) bool {
	held, spelt := b.heldBy(h)
	over, under := b.miscount(h, held)
	return spelt && len(held) > 0 && (h.Missing || under > 0 && over == 0)
}

// lacks finds in the view what is missing in the blocks that are rebuilt.
func (b *builder) lacks(found func(finding.Finding)) {
	for i := range int32(b.view.Rows(model.Blocks)) {
		if block := b.view.Block(i); b.within(block.CIDR) && broken(block) {
			found(finding.Finding{Code: finding.PL1004, Subject: block.Ref(), Summary: "its lists contradict each other"})
		}
	}
	for i := range int32(b.view.Rows(model.Handles)) {
		if h := b.view.Handle(i); b.short(h) && b.touches(h) {
			found(finding.Finding{Code: finding.PL1006, Subject: h.Ref(), Summary: "counts less than the blocks hold"})
		}
	}
	for i := range int32(b.view.Rows(model.Addresses)) {
		ip := b.view.Address(i)
		pool := b.view.PoolWith(ip)
		if !b.within(netip.PrefixFrom(ip, ip.BitLen())) || b.view.AllocationOf(ip) != nil || pool == nil || pool.Disabled {
			continue
		}
		ref := model.Ref{Kind: model.KindAddress, Name: ip.String()}
		if n := b.view.TunnelWith(ip); n != nil {
			if !slices.Contains(n.Addresses, ip) {
				found(finding.Finding{Code: finding.PL1008, Subject: ref, Node: n.Name, Summary: "tunnel address of " + n.Name + ", free in IPAM"})
			}
			continue
		}
		for pod := range b.view.PodsWith(ip) {
			if pod.NoIPAM || !pool.Serves("Workload") {
				continue
			}
			found(finding.Finding{Code: finding.PL1002, Subject: ref, Node: pod.Node, Namespace: pod.Namespace, About: []model.Ref{pod.Ref()}, Summary: "used by " + pod.Ref().Name + ", free in IPAM"})
			break
		}
	}
}

// untouched adds a refusal for each node whose allocations are not changed because its agent cannot verify.
func (b *builder) untouched() {
	b.surveyNodes()
	of := map[string]int{}
	for i := range int32(b.view.Rows(model.Allocations)) {
		a := b.view.Allocation(i)
		block := b.view.BlockOf(a)
		if !b.within(block.CIDR) {
			continue
		}
		node := block.Node()
		if at := b.view.AttributeOf(a); at != nil && at.Node != "" {
			node = at.Node
		}
		if n := b.view.NodeByName(node); n != nil && b.nodes.mute[n.Name] {
			of[n.Name]++
		}
	}
	for _, node := range slices.Sorted(maps.Keys(of)) {
		b.refuse(finding.KeyOf(finding.PL9001, node), refuse(advice(finding.PL9001), "live verification is not possible: the %d addresses that IPAM has for this node are not changed", of[node]))
	}
}
