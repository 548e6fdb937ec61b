package planner

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A missingBlock is a block that does not exist although running pods have addresses of it.
type missingBlock struct {
	cidr   netip.Prefix
	node   string // node that gets the block, by its Calico name
	state  string // state of the affinity that the node still has; empty: none
	uid    string
	strict bool
}

// missingBlockFor finds the missing block of an address. The node that still has an affinity
// for it gets it; else the node with most of its pods. Invariant: this plan records all users
// of the block, because in a new block all other addresses are free.
func (b *builder) missingBlockFor(t *runningPod, ip netip.Addr, pool *model.Pool) (*missingBlock, *repair.Refusal) {
	v := b.view
	bits := pool.BlockSize
	if bits == 0 {
		bits = model.DefaultBlockSize(ip)
	}
	cidr, err := ip.Prefix(bits)
	if err != nil || bits < pool.CIDR.Bits() || model.Size(cidr, change.MaxOrdinals+1) > change.MaxOrdinals {
		return nil, refuse("", "pool %s has an invalid block size (%d)", pool.Name, bits)
	}
	s, no := b.plannedBlock(cidr), (*repair.Refusal)(nil)
	if s == nil {
		s, no = b.inspectMissingBlock(cidr, t)
	}
	if no != nil {
		return nil, no
	}
	switch n := v.NodeByName(s.node); {
	case n == nil || v.Stranger(s.node):
		return nil, refuse("repair the affinities first", "%s, which has an affinity for %s, is not a node of this cluster", s.node, cidr)
	case n.OS == "windows":
		return nil, refuse("", "%s belongs to %s, which reserves some of its addresses for Windows", cidr, s.node)
	case s.strict && n.Name != t.pod.Node:
		return nil, refuse("delete the pod at a convenient time", "%s would belong to %s, and strict affinity forbids other nodes to borrow", cidr, s.node)
	}
	return s, nil
}

// plannedBlock gives the block if another finding has already planned to create it; else nil.
func (b *builder) plannedBlock(cidr netip.Prefix) *missingBlock {
	made, ok := b.changeAt(createBlocks, model.Ref{Kind: model.KindBlock, Name: cidr.String()}).(*change.NewBlock)
	if !ok {
		return nil
	}
	s := &missingBlock{cidr: cidr, node: made.Node, strict: made.Strict, state: change.AffinityPending}
	if a, ok := b.changeAt(claimAffinities, s.claim()).(*change.Affinity); ok {
		s.state, s.uid = a.From, a.UID
	}
	return s
}

// inspectMissingBlock checks everything that prevents a new block: overlaps, affinities, users outside the plan.
func (b *builder) inspectMissingBlock(cidr netip.Prefix, t *runningPod) (*missingBlock, *repair.Refusal) {
	v := b.view
	if !v.State(model.Affinities, "").Seen() || !v.State(model.Cluster, "").Seen() {
		return nil, refuse("", "affinities were not read completely")
	}
	for i := range v.Snapshot().Blocks {
		if other := &v.Snapshot().Blocks[i]; other.CIDR.Overlaps(cidr) {
			return nil, refuse("decide which of the two blocks is right", "block %s would overlap %s", cidr, other.CIDR)
		}
	}
	s := &missingBlock{cidr: cidr, strict: v.Info().StrictAffinity}
	for i := range v.Snapshot().Affinities {
		a := &v.Snapshot().Affinities[i]
		switch {
		case !a.CIDR.Overlaps(cidr):
		case a.CIDR != cidr, s.node != "", a.Type == "virtual":
			return nil, refuse("repair the affinities first", "%s also has an affinity for %s", a.Node, a.CIDR)
		case a.Deleted || a.State == "pendingDeletion":
			return nil, refuse("plan again when it is gone", "%s is releasing %s", a.Node, a.CIDR)
		default:
			s.node, s.state, s.uid = a.Node, cmp.Or(a.State, change.AffinityConfirmed), a.UID
		}
	}
	if s.node == "" {
		s.node = b.nodeOfMostPods(cidr, t)
	}
	return s, b.unplannedUser(cidr, t)
}

// unplannedUser refuses if an address of the range is in use and this plan does not record
// it: in a new block it would be free, and Calico would assign it again.
func (b *builder) unplannedUser(cidr netip.Prefix, t *runningPod) *repair.Refusal {
	advice := "plan the whole block: --rebuild " + cidr.String()
	for n := range int32(model.Size(cidr, change.MaxOrdinals)) {
		ip := model.Offset(cidr, n)
		if !b.claimed(ip) || slices.Contains(t.ips, ip) || b.reserved(ip) != "" {
			continue
		}
		if node := b.view.TunnelWith(ip); node != nil {
			if rival := b.otherThanTunnel(ip); rival != "" {
				return refuse("repair the duplicate address (PL2010) first", "%s and the tunnel of %s both have %s", rival, node.Name, ip)
			}
			continue // tunnelsIn records it with the block
		}
		pod, no := b.userOf(ip)
		if no == nil && pod != t.pod {
			_, no = b.runningPodOf(pod)
		}
		switch {
		case no != nil:
			return refuse(no.Advice, "%s, also of %s, cannot be recorded: %s", ip, cidr, no.Why)
		case !b.planned[finding.KeyOf(finding.PL1002, ip.String())] && !b.planned[finding.KeyOf(finding.PL2001, pod.Namespace+"/"+pod.Name)]:
			return refuse(advice, "%s of %s/%s is also in %s, and is not part of this plan", ip, pod.Namespace, pod.Name, cidr)
		}
	}
	return nil
}

// reserved names the IPReservation that contains an address; empty if none.
func (b *builder) reserved(ip netip.Addr) string {
	for i := range b.view.Snapshot().Reservations {
		r := &b.view.Snapshot().Reservations[i]
		if slices.ContainsFunc(r.CIDRs, func(p netip.Prefix) bool { return p.Contains(ip) }) {
			return r.Name
		}
	}
	return ""
}

// nodeOfMostPods gives the Calico name of the node with most pods in a range; of several the
// first by name.
func (b *builder) nodeOfMostPods(cidr netip.Prefix, t *runningPod) string {
	count := map[string]int{t.pod.Node: 0}
	for n := range int32(model.Size(cidr, change.MaxOrdinals)) {
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

// createMissingBlock plans to create a block in Calico's order: affinity pending, block,
// affinity confirmed. Tunnel addresses of the block are allocated in the same write:
// calico-node would record them only later, after Calico may have assigned them.
func (b *builder) createMissingBlock(f *finding.Finding, s *missingBlock, born change.Ordinal) {
	if s.state != change.AffinityPending {
		b.step(claimAffinities, f, "claim", s.claim(), b.labelled(change.Affinity{Node: s.node, CIDR: s.cidr, Want: change.AffinityPending, From: s.state, UID: s.uid}))
	}
	on := model.Ref{Kind: model.KindBlock, Name: s.cidr.String()}
	hold := b.unverifiable() != "" // a node that does not answer may use any other address of it
	b.step(createBlocks, f, "create", on, &change.NewBlock{Node: s.node, Strict: s.strict, Hold: hold, Born: append(b.tunnelsIn(f, s), born)})
	if hold {
		unknown := change.UnknownHandle(s.cidr)
		b.step(confirmAffinities, f, "count", handleRef(unknown), &change.Count{Handle: unknown, Blocks: []netip.Prefix{s.cidr}})
	}
	b.step(confirmAffinities, f, "confirm", s.claim(), b.labelled(change.Affinity{Node: s.node, CIDR: s.cidr, Want: change.AffinityConfirmed, From: change.AffinityPending}))
}

// tunnelsIn gives the tunnel addresses of a new block. They are added once, with the first
// finding that needs the block.
func (b *builder) tunnelsIn(f *finding.Finding, s *missingBlock) []change.Ordinal {
	on := model.Ref{Kind: model.KindBlock, Name: s.cidr.String()}
	if b.changeAt(createBlocks, on) != nil {
		return nil
	}
	var out []change.Ordinal
	for n := range int32(model.Size(s.cidr, change.MaxOrdinals)) {
		ip := model.Offset(s.cidr, n)
		node := b.view.TunnelWith(ip)
		if node == nil || b.computed() {
			continue
		}
		i := slices.IndexFunc(node.Tunnels, func(t model.Tunnel) bool { return t.IP == ip })
		owner := change.TunnelOwner(node.Tunnels[i].Kind, b.view.CalicoName(node.Name))
		if owner == nil {
			continue
		}
		b.step(raiseHandles, f, "count", handleRef(owner.Handle), &change.Count{Handle: owner.Handle, Raise: []change.Raise{{Block: s.cidr, IPs: []netip.Addr{ip}}}})
		out = append(out, change.Ordinal{For: f.Key(), IP: ip, To: owner})
	}
	return out
}
