package repair

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A site is a block that is gone although pods live in it.
type missingBlock struct {
	cidr   netip.Prefix
	node   string // that it will belong to, as Calico calls it
	state  string // of the affinity that the node still has; empty: none
	uid    string
	strict bool
}

// missingBlockFor finds where the block of an address was. The node that still claims it gets it;
// else that of most of the pods that live in it. All who live in it must be recorded by
// this plan: in a new block their addresses are free.
func (b *builder) missingBlockFor(t *runningPod, ip netip.Addr, pool *model.Pool) (*missingBlock, *refusal) {
	v := b.view
	bits := pool.BlockSize
	if bits == 0 {
		bits = map[bool]int{true: 26, false: 122}[ip.Is4()]
	}
	cidr, err := ip.Prefix(bits)
	if err != nil || bits < pool.CIDR.Bits() || model.Size(cidr, maxOrdinals+1) > maxOrdinals {
		return nil, refuse("", "pool %s has blocks of a strange size (%d)", pool.Name, bits)
	}
	s, no := b.plannedBlock(cidr), (*refusal)(nil)
	if s == nil {
		s, no = b.inspectMissingBlock(cidr, t)
	}
	if no != nil {
		return nil, no
	}
	switch n := v.NodeByName(s.node); {
	case n == nil || v.Stranger(s.node):
		return nil, refuse("repair the affinities first", "%s, which claims %s, is no node of this cluster", s.node, cidr)
	case n.OS == "windows":
		return nil, refuse("", "%s is of %s, which keeps addresses of it for Windows", cidr, s.node)
	case s.strict && n.Name != t.pod.Node:
		return nil, refuse("end the pod when it suits", "%s would belong to %s, and nodes may not borrow", cidr, s.node)
	}
	return s, nil
}

// plannedBlock is the one that another finding has asked for already.
func (b *builder) plannedBlock(cidr netip.Prefix) *missingBlock {
	d := b.at[place{createBlocks, model.Ref{Kind: model.KindBlock, Name: cidr.String()}}]
	if d == nil || d.NewBlock == nil {
		return nil
	}
	s := &missingBlock{cidr: cidr, node: d.NewBlock.Node, strict: d.NewBlock.Strict, state: AffinityPending}
	if c := b.at[place{claimAffinities, s.claim()}]; c != nil {
		s.state, s.uid = c.Affinity.From, c.Affinity.UID
	}
	return s
}

// inspectMissingBlock looks at all that stands in the way of a new block.
func (b *builder) inspectMissingBlock(cidr netip.Prefix, t *runningPod) (*missingBlock, *refusal) {
	v := b.view
	if !v.State(model.Affinities, "").Seen() || !v.State(model.Cluster, "").Seen() {
		return nil, refuse("", "affinities were not seen in full")
	}
	for i := range v.Snapshot().Blocks {
		if other := &v.Snapshot().Blocks[i]; other.CIDR.Overlaps(cidr) {
			return nil, refuse("a person must decide which of them is right", "block %s would overlap %s", cidr, other.CIDR)
		}
	}
	s := &missingBlock{cidr: cidr, strict: v.Info().StrictAffinity}
	for i := range v.Snapshot().Affinities {
		a := &v.Snapshot().Affinities[i]
		switch {
		case !a.CIDR.Overlaps(cidr):
		case a.CIDR != cidr, s.node != "", a.Type == "virtual":
			return nil, refuse("repair the affinities first", "%s has an affinity for %s as well", a.Node, a.CIDR)
		case a.Deleted || a.State == "pendingDeletion":
			return nil, refuse("plan again when it is gone", "%s is giving %s up", a.Node, a.CIDR)
		default:
			s.node, s.state, s.uid = a.Node, cmp.Or(a.State, AffinityConfirmed), a.UID
		}
	}
	if s.node == "" {
		s.node = b.nodeOfMostPods(cidr, t)
	}
	return s, b.unplannedUser(cidr, t)
}

// unplannedUser objects if somebody lives in a range whom this plan does not record: a new block
// would give his address to the next who asks.
func (b *builder) unplannedUser(cidr netip.Prefix, t *runningPod) *refusal {
	advice := "plan all of it: --rebuild " + cidr.String()
	for n := range int32(model.Size(cidr, maxOrdinals)) {
		ip := model.Offset(cidr, n)
		if !b.claimed(ip) || slices.Contains(t.ips, ip) || b.reserved(ip) != "" {
			continue
		}
		if node := b.view.TunnelWith(ip); node != nil {
			if rival := b.otherThanTunnel(ip); rival != "" {
				return refuse("repair the shared address first", "%s and a tunnel of %s share %s", rival, node.Name, ip)
			}
			continue // it is recorded with the block
		}
		pod, no := b.userOf(ip)
		if no == nil && pod != t.pod {
			_, no = b.runningPodOf(pod)
		}
		switch {
		case no != nil:
			return refuse(no.advice, "%s lives in %s as well, and cannot be recorded: %s", ip, cidr, no.why)
		case !b.planned["PL1002/"+ip.String()] && !b.planned["PL2001/"+pod.Namespace+"/"+pod.Name]:
			return refuse(advice, "%s of %s/%s lives in %s as well, and is not part of this plan", ip, pod.Namespace, pod.Name, cidr)
		}
	}
	return nil
}

// reserved names the reservation that keeps an address from being given out; empty if none.
func (b *builder) reserved(ip netip.Addr) string {
	for i := range b.view.Snapshot().Reservations {
		r := &b.view.Snapshot().Reservations[i]
		if slices.ContainsFunc(r.CIDRs, func(p netip.Prefix) bool { return p.Contains(ip) }) {
			return r.Name
		}
	}
	return ""
}

// nodeOfMostPods is the node, as Calico calls it, of most of the pods that live in a range; of
// several the first by name.
func (b *builder) nodeOfMostPods(cidr netip.Prefix, t *runningPod) string {
	count := map[string]int{t.pod.Node: 0}
	for n := range int32(model.Size(cidr, maxOrdinals)) {
		for pod := range b.view.PodsWith(model.Offset(cidr, n)) {
			if pod.Node != "" && b.view.NodeByName(pod.Node) != nil {
				count[pod.Node]++
			}
		}
	}
	nodes := slices.SortedFunc(maps.Keys(count), func(x, y string) int { return cmp.Or(count[y]-count[x], cmp.Compare(x, y)) })
	return b.view.CalicoName(nodes[0])
}

func (s *missingBlock) claim() model.Ref {
	return model.Ref{Kind: model.KindAffinity, Name: s.node + "/" + s.cidr.String()}
}

// createMissingBlock plans the making of a block in Calico's order: claimed, made, confirmed. What
// tunnels have of it is recorded with it: nobody else would before the next pod asks.
func (b *builder) createMissingBlock(f *finding.Finding, s *missingBlock, born Ordinal) {
	if s.state != AffinityPending {
		b.step(claimAffinities, f, "claim", s.claim(), Change{Affinity: &Affinity{Node: s.node, CIDR: s.cidr, Want: AffinityPending, From: s.state, UID: s.uid}})
	}
	on := model.Ref{Kind: model.KindBlock, Name: s.cidr.String()}
	b.step(createBlocks, f, "create", on, Change{NewBlock: &NewBlock{Node: s.node, Strict: s.strict, Born: append(b.tunnelsIn(f, s), born)}})
	b.step(confirmAffinities, f, "confirm", s.claim(), Change{Affinity: &Affinity{Node: s.node, CIDR: s.cidr, Want: AffinityConfirmed, From: AffinityPending}})
}

// tunnelsIn are the addresses of a new block that tunnels have. They are recorded once,
// with the first finding that asks for the block.
func (b *builder) tunnelsIn(f *finding.Finding, s *missingBlock) []Ordinal {
	on := model.Ref{Kind: model.KindBlock, Name: s.cidr.String()}
	if b.at[place{createBlocks, on}] != nil {
		return nil
	}
	var out []Ordinal
	for n := range int32(model.Size(s.cidr, maxOrdinals)) {
		ip := model.Offset(s.cidr, n)
		node := b.view.TunnelWith(ip)
		if node == nil || b.computed() {
			continue
		}
		i := slices.IndexFunc(node.Tunnels, func(t model.Tunnel) bool { return t.IP == ip })
		owner := tunnelOwner(node.Tunnels[i].Kind, b.view.CalicoName(node.Name))
		if owner == nil {
			continue
		}
		b.step(raiseHandles, f, "count", handleRef(owner.Handle), Change{Count: &Count{Handle: owner.Handle, Raise: []Raise{{s.cidr, []netip.Addr{ip}}}}})
		out = append(out, Ordinal{For: f.Key(), IP: ip, To: owner})
	}
	return out
}
