package repair

import (
	"maps"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// planMend makes a block's structure right (1.4). It is a merge: what is held stays held,
// for a sandbox in the making shows nowhere else. Frees go by PL1001 only.
func planMend(b *builder, f *finding.Finding) {
	cidr, err := netip.ParsePrefix(f.Subject.Name)
	block := b.view.BlockAt(cidr)
	if err != nil || block == nil {
		b.refuse(f, "the block is not there any more", "look again")
		return
	}
	if why := beyond(block); why != "" {
		b.refuse(f, why, "move its pods away one by one (kubectl delete pod), then have it deleted when it is empty")
		return
	}
	if !broken(block) {
		b.refuse(f, "what is wrong with it does no harm, and goes with its next write", "nothing; or restart the pods whose attributes have no handle")
		return
	}
	lost, no := b.neither(block)
	if no != nil {
		b.refuse(f, no.why, no.advice)
		return
	}
	t := b.target(f, Safe, Proof{})
	raise := map[string][]netip.Addr{}
	var owners []Ordinal
	for ip, owner := range lost {
		raise[owner.Handle] = append(raise[owner.Handle], ip)
		owners = append(owners, Ordinal{For: f.Key(), IP: ip, To: owner})
	}
	for _, slot := range block.Held {
		if readable(block, slot) {
			continue
		}
		ip := model.Offset(block.CIDR, slot[0])
		owner := b.found(ip)
		if owner == nil {
			raise[UnknownHandle(block.CIDR)] = append(raise[UnknownHandle(block.CIDR)], ip)
			t.Warnings = append(t.Warnings, ip.String()+" stays held for nobody that can be named")
			continue // the edit gives it that name
		}
		raise[owner.Handle] = append(raise[owner.Handle], ip)
		owners = append(owners, Ordinal{For: f.Key(), IP: ip, To: owner})
	}
	slices.SortFunc(owners, func(x, y Ordinal) int { return x.IP.Compare(y.IP) })
	for _, id := range slices.Sorted(maps.Keys(raise)) {
		slices.SortFunc(raise[id], netip.Addr.Compare)
		b.step(raiseHandles, f, "count", handleRef(id), Change{Count: &Count{Handle: id, Raise: []Raise{{block.CIDR, raise[id]}}}})
	}
	b.step(repairBlocks, f, "mend", block.Ref(), Change{Mend: &Mend{Owners: owners}})
}

// neither gives the owners of what a block neither holds nor offers and somebody uses: to
// list it as free would give it away.
func (b *builder) neither(block *model.Block) (map[netip.Addr]*Owner, *refusal) {
	out := map[netip.Addr]*Owner{}
	known := map[int32]bool{}
	for _, slot := range block.Held {
		known[slot[0]] = true
	}
	for _, n := range block.Free {
		known[n] = true
	}
	for n := range int32(model.Size(block.CIDR, maxOrdinals)) {
		ip := model.Offset(block.CIDR, n)
		if known[n] || !b.claimed(ip) {
			continue
		}
		if out[ip] = b.found(ip); out[ip] == nil {
			return nil, refuse("end what uses it, or get its node to answer", "%s is in use, and it is not known for sure by whom", ip)
		}
	}
	return out, nil
}

// found gives the owner of an address by who has it; nil if that is not known for sure.
func (b *builder) found(ip netip.Addr) *Owner {
	var owner *Owner
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
			owner = tunnelOwner(n.Tunnels[i].Kind, b.view.CalicoName(n.Name))
		case model.ByService:
			return nil
		case model.ByEndpoint, model.BySandbox:
		}
	}
	return owner
}

// beyond says what of a block nobody may mend while it is in use.
func beyond(block *model.Block) string {
	switch {
	case block.Deleted:
		return "it is marked deleted: Calico is at it, or stopped half-way"
	case block.CIDR != block.CIDR.Masked():
		return "its range does not begin at a boundary"
	case block.Name != "" && block.Name != model.BlockName(block.CIDR):
		return "its object is called " + block.Name + ", by which nobody finds it"
	default:
		return ""
	}
}

// broken tells that a block's lists contradict each other.
func broken(block *model.Block) bool {
	size := model.Size(block.CIDR, maxOrdinals)
	seen := make([]bool, max(size, block.Length))
	if block.Length != size {
		return true
	}
	used := make([]bool, len(block.Attributes))
	for _, slot := range block.Held {
		if !readable(block, slot) || slot[0] < 0 || int(slot[0]) >= size {
			return true
		}
		seen[slot[0]], used[slot[1]] = true, true
	}
	for _, n := range block.Free {
		if n < 0 || int(n) >= size || seen[n] {
			return true
		}
		seen[n] = true
	}
	for _, q := range block.Sequences {
		if q.Number > block.Sequence {
			return true
		}
	}
	twice := map[model.Attribute]bool{}
	for _, at := range block.Attributes {
		if twice[at] && at.Handle != "" {
			return true
		}
		twice[at] = true
	}
	return slices.Contains(seen, false) || slices.Contains(used, false)
}

func readable(block *model.Block, slot model.Slot) bool {
	return slot[1] >= 0 && int(slot[1]) < len(block.Attributes)
}
