package planner

import (
	"maps"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planMend repairs the structure of a block. Allocated addresses stay allocated: of a
// sandbox that is being created the allocation may be the only trace. Only PL1001 releases.
func planMend(b *builder, f *finding.Finding) *repair.Refusal {
	cidr, err := netip.ParsePrefix(f.Subject.Name)
	block := b.view.BlockAt(cidr)
	if err != nil || block == nil {
		return &repair.Refusal{Why: "the block is gone", Advice: "run plumbline check again"}
	}
	if why := beyond(block); why != "" {
		return &repair.Refusal{Why: why, Advice: "delete its pods one by one (kubectl delete pod), then delete the block when it is empty"}
	}
	if !broken(block) {
		return &repair.Refusal{Why: "the defect is harmless and disappears with the next write of the block", Advice: "no action needed; or restart the pods whose attributes have no handle"}
	}
	lost, unlisted, no := b.neither(block)
	if no != nil {
		return no
	}
	t := b.target(f, change.Safe, change.Proof{})
	raise := map[string][]netip.Addr{}
	var owners []change.Ordinal
	unknown := func(ip netip.Addr) { // the change does that
		raise[change.UnknownHandle(block.CIDR)] = append(raise[change.UnknownHandle(block.CIDR)], ip)
		t.Warnings = append(t.Warnings, ip.String()+" stays allocated to an unknown owner")
	}
	for _, ip := range unlisted {
		unknown(ip)
	}
	for ip, owner := range lost {
		raise[owner.Handle] = append(raise[owner.Handle], ip)
		owners = append(owners, change.Ordinal{For: f.Key(), IP: ip, To: owner})
	}
	for _, slot := range block.Held {
		if readable(block, slot) {
			continue
		}
		ip := model.Offset(block.CIDR, slot[0])
		owner := b.found(ip)
		if owner == nil {
			unknown(ip)
			continue
		}
		raise[owner.Handle] = append(raise[owner.Handle], ip)
		owners = append(owners, change.Ordinal{For: f.Key(), IP: ip, To: owner})
	}
	slices.SortFunc(owners, func(x, y change.Ordinal) int { return x.IP.Compare(y.IP) })
	for _, id := range slices.Sorted(maps.Keys(raise)) {
		slices.SortFunc(raise[id], netip.Addr.Compare)
		b.step(raiseHandles, f, "count", handleRef(id), &change.Count{Handle: id, Raise: []change.Raise{{Block: block.CIDR, IPs: raise[id]}}})
	}
	b.step(repairBlocks, f, "mend", block.Ref(), &change.Mend{Owners: owners})
	return nil
}

// neither gives the addresses that the block lists neither as allocated nor as free: those in
// use with their owners, and those of which nobody knows whether they are. If they were listed
// as free, Calico would assign them again.
func (b *builder) neither(block *model.Block) (map[netip.Addr]*change.Owner, []netip.Addr, *repair.Refusal) {
	out := map[netip.Addr]*change.Owner{}
	var unknown []netip.Addr
	known := map[int32]bool{}
	for _, slot := range block.Held {
		known[slot[0]] = true
	}
	for _, n := range block.Free {
		known[n] = true
	}
	for n := range int32(model.Size(block.CIDR, change.MaxOrdinals)) {
		ip := model.Offset(block.CIDR, n)
		if known[n] {
			continue
		}
		if !b.claimed(ip) {
			unknown = append(unknown, ip)
			continue
		}
		if out[ip] = b.found(ip); out[ip] == nil {
			return nil, nil, refuse("delete the pod that uses it, or make the agent on its node answer", "%s is in use, and its user is not known for certain", ip)
		}
	}
	return out, unknown, nil
}

// found gives the owner of an address from who uses it; nil if that is not certain.
func (b *builder) found(ip netip.Addr) *change.Owner {
	var owner *change.Owner
	for c := range b.view.Claims(ip) {
		switch c.By {
		case model.ByPod:
			t, no := b.runningPodOf(b.view.Pod(c.Row))
			if no != nil || !slices.Contains(t.ips, ip) || owner != nil {
				return nil
			}
			owner = b.owner(t)
		case model.ByTunnel:
			n := b.view.Node(c.Row)
			i := slices.IndexFunc(n.Tunnels, func(t model.Tunnel) bool { return t.IP == ip })
			if owner != nil || i < 0 {
				return nil
			}
			owner = change.TunnelOwner(n.Tunnels[i].Kind, b.view.CalicoName(n.Name))
		case model.ByService:
			return nil
		case model.ByEndpoint, model.BySandbox:
		}
	}
	return owner
}
