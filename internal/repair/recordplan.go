package repair

import (
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A posting is one address that the ledger shall say a tenant holds.
type assignment struct {
	ip      netip.Addr
	ordinal int32
	block   netip.Prefix
	home    string        // the node that the block belongs to, as Calico calls it
	missing *missingBlock // the block, if it is yet to be made
	from    *Held         // nil means free
	right   bool          // the block says so; only its handle does not count it
	hold    bool          // through a name of ours: Calico's collector never reads anew what it knows by handle and address
}

// A takeover says which entries of others may be handed to a tenant; nil objects to none.
type takeover func(at *model.Attribute) *refusal

// posting finds what the ledger lacks about an address of a tenant. Nil with no refusal
// means nothing. Nothing is ever taken from anybody living but the spared.
func (b *builder) assignment(t *runningPod, ip netip.Addr, from takeover, spared ...*model.Pod) (*assignment, *refusal) {
	v := b.view
	if !v.State(model.Blocks, "").Seen() || !v.State(model.Handles, "").Seen() || !v.State(model.Pods, "").Seen() {
		return nil, refuse("", "blocks, handles and pods were not seen in full")
	}
	if no := b.otherUser(t, ip, spared...); no != nil {
		return nil, no
	}
	if n := v.NodeByName(t.pod.Node); n == nil || n.OS == "windows" {
		return nil, refuse("", "%s is no node that we know, or one of Windows", t.pod.Node)
	}
	block, no := b.onlyBlock(ip)
	if no != nil {
		return nil, no
	}
	a := v.AllocationOf(ip)
	if a == nil {
		return b.assignFree(t, ip, block)
	}
	at := v.AttributeOf(a)
	if at == nil {
		return nil, refuse("repair the block first", "nobody can read who holds %s in %s", ip, block.CIDR)
	}
	p := &assignment{ip: ip, ordinal: a.Ordinal, block: block.CIDR, home: block.Node(), from: &Held{Attribute: *at, Sequence: block.SequenceOf(a.Ordinal)}}
	if model.HandleKey(at.Handle) == model.HandleKey(t.handle()) {
		if at.Pod == t.pod.Name && at.Namespace == t.pod.Namespace && v.SameNode(at.Node, t.pod.Node) {
			p.right = true
			if b.counted(t.handle(), block.CIDR) {
				return nil, nil
			}
			return p, nil
		}
		p.hold = true
	}
	if no := b.kept(t, at); no != nil {
		return nil, no
	}
	if from == nil {
		from = b.fromOwnFormerSandbox(t)
	}
	return p, from(at)
}

// onlyBlock gives the block of an address; nil if there is none.
func (b *builder) onlyBlock(ip netip.Addr) (*model.Block, *refusal) {
	var found *model.Block
	for block := range b.view.BlocksWith(ip) {
		if found != nil {
			return nil, refuse("a person must decide which of them is right", "%s lies in two blocks, %s and %s", ip, found.CIDR, block.CIDR)
		}
		found = block
	}
	if found != nil && found.Deleted {
		return nil, refuse("plan again when it is gone", "%s is being deleted", found.CIDR)
	}
	return found, nil
}

// kept objects to takeover what is not a pod's.
func (b *builder) kept(t *runningPod, at *model.Attribute) *refusal {
	switch {
	case at.Handle == model.WindowsHandle:
		return refuse("", "the ledger keeps it for Windows")
	case at.Tunnel():
		return refuse("restart calico-node of that node: it takes another", "the ledger says that a tunnel of %s has it", at.Node)
	case at.Service != "" || at.Type != "":
		return refuse("", "the ledger says that it is a service's, or no pod's")
	case at.VM != "" || at.Alternate != "":
		return refuse("KubeVirt and Calico hand a machine's address from pod to pod", "the ledger says that it is a machine's")
	case at.Cooling:
		return refuse("", "the ledger keeps it from use for a while")
	case t.pod.NoIPAM:
		return refuse("an IPReservation keeps such addresses from IPAM", "the pod asked for its address past IPAM")
	default:
		return nil
	}
}

// fromOwnFormerSandbox lets a tenant take what a former sandbox of the same pod holds. That no
// sandbox but its own has the address was seen before.
func (b *builder) fromOwnFormerSandbox(t *runningPod) takeover {
	return func(at *model.Attribute) *refusal {
		if model.HandleKey(at.Handle) == model.HandleKey(t.handle()) {
			return nil
		}
		if at.Namespace == t.pod.Namespace && at.Pod == t.pod.Name {
			return nil
		}
		return refuse("repair the allocation first", "the ledger says that it is %s's", orText(at.Namespace+"/"+at.Pod, at.Handle))
	}
}

// assignFree is for an address that the ledger would give away.
func (b *builder) assignFree(t *runningPod, ip netip.Addr, block *model.Block) (*assignment, *refusal) {
	pool := b.view.PoolWith(ip)
	switch {
	case pool == nil:
		return nil, refuse("", "%s lies in no pool", ip)
	case pool.Disabled:
		return nil, refuse("enable the pool, or end the pod when it suits", "pool %s is disabled", pool.Name)
	case !pool.Serves("Workload"):
		return nil, refuse("", "pool %s is not for pods", pool.Name)
	case t.pod.NoIPAM:
		return nil, refuse("an IPReservation keeps such addresses from IPAM", "the pod asked for %s past IPAM", ip)
	}
	if name := b.reserved(ip); name != "" {
		return nil, refuse("IPAM does not give it to others", "reservation %s keeps %s", name, ip)
	}
	if block == nil {
		s, no := b.missingBlockFor(t, ip, pool)
		if no != nil {
			return nil, no
		}
		return &assignment{ip: ip, block: s.cidr, home: s.node, missing: s}, nil
	}
	for _, n := range block.Free {
		if model.Offset(block.CIDR, n) == ip {
			return &assignment{ip: ip, ordinal: n, block: block.CIDR, home: block.Node()}, nil
		}
	}
	return nil, refuse("repair the block first", "%s says that %s is neither held nor free", block.CIDR, ip)
}

// counted tells that a handle counts what a block holds for it.
func (b *builder) counted(handle string, block netip.Prefix) bool {
	v := b.view
	if !v.State(model.HandleCounts, "").Seen() {
		return false
	}
	held := 0
	for a := range v.AllocationsBy(handle) {
		if v.BlockOf(a).CIDR == block {
			held++
		}
	}
	for h := range v.HandlesOf(handle) {
		if h.Missing || h.Deleted {
			continue
		}
		for _, c := range h.Blocks {
			if c.CIDR == block && c.Count >= held {
				return true
			}
		}
	}
	return false
}

// record plans what makes the ledger say what a tenant holds: its handle counts it before
// a block gives it. It is done for a finding that is a target, whose proof is the tenant's.
func (b *builder) record(f *finding.Finding, t *runningPod, ps ...*assignment) {
	for _, p := range ps {
		if p.missing != nil {
			b.createMissingBlock(f, p.missing, Ordinal{For: f.Key(), IP: p.ip, To: b.owner(t)})
		}
		on := model.Ref{Kind: model.KindBlock, Name: p.block.String()}
		b.step(raiseHandles, f, "count", handleRef(t.handle()), Change{Count: &Count{Handle: t.handle(), Raise: []Raise{{p.block, []netip.Addr{p.ip}}}}})
		if p.right {
			continue
		}
		do, from := "record", p.from
		if from != nil {
			do = "hand over"
		}
		if p.hold {
			hold := Owner{Handle: fmt.Sprintf("plumbline-hold.%s.%d", b.o.ID, p.ordinal), Secondary: map[string]string{"node": b.view.CalicoName(t.pod.Node)}}
			b.step(holdOrdinals, f, "hold", on, Change{Ordinals: []Ordinal{{For: f.Key(), IP: p.ip, From: from, To: &hold}}})
			from = &Held{Attribute: model.Attribute{Handle: hold.Handle}}
		}
		b.step(writeOrdinals, f, do, on, Change{Ordinals: []Ordinal{{For: f.Key(), IP: p.ip, From: from, To: b.owner(t)}}})
		if p.from != nil && p.from.Handle != "" && model.HandleKey(p.from.Handle) != model.HandleKey(t.handle()) {
			b.recount(f, p.from.Handle, slices.Collect(b.view.AllocationsBy(p.from.Handle)))
		}
	}
}

// owner is what Calico's plugin writes about a pod that it gives an address.
func (b *builder) owner(t *runningPod) *Owner {
	return &Owner{Handle: t.handle(), Secondary: map[string]string{
		"node": b.view.CalicoName(t.pod.Node), "pod": t.pod.Name, "namespace": t.pod.Namespace,
		timestamp: b.o.Made.Time().UTC().String(),
	}}
}

// routed is the risk of assignments. Every Felix routes a block to its node and by itself
// what others hold of it (F3): where the ledger names another node than before for an
// address, routes move, if only to where the pod is.
func (b *builder) routed(t *runningPod, ps ...*assignment) Risk {
	for _, p := range ps {
		before := p.home
		if p.from != nil {
			before = p.from.Node
		}
		if p.missing != nil || !p.right && !b.view.SameNode(before, t.pod.Node) {
			return Disruptive
		}
	}
	return Safe
}

// defaultGracePeriod is Calico's, in seconds, where its configuration was not seen.
const defaultGracePeriod = 15 * 60

// collected is for how long a record must stay to be there for good: Calico's collector
// decides by what it saw before.
func (b *builder) watchSeconds() int64 {
	grace := int64(defaultGracePeriod)
	if c, ok := b.view.Collector(); ok {
		grace = c.LeakGracePeriod
	}
	return grace * 3 / 2
}
