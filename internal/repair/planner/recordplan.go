package planner

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// An assignment is one address that IPAM must have for a running pod.
type assignment struct {
	ip      netip.Addr
	ordinal int32
	block   netip.Prefix
	home    string        // node that the block belongs to, by its Calico name
	missing *missingBlock // the block, if it must be created
	from    *change.Held  // owner now; nil means free
	right   bool          // the block is right; only the handle does not count it
	hold    bool          // first write a temporary handle: see planMisnamed
}

// A takeover refuses if an allocation of another owner must not be transferred to the running pod; nil allows it.
type takeover func(at *model.Attribute) *repair.Refusal

// assignment finds what IPAM needs for an address of a running pod. Nil with no refusal: IPAM
// is right. Invariant: no address is taken from another user, except from the pods in spared.
func (b *builder) assignment(t *runningPod, ip netip.Addr, from takeover, spared ...*model.Pod) (*assignment, *repair.Refusal) {
	v := b.view
	if !v.State(model.Blocks, "").Seen() || !v.State(model.Handles, "").Seen() || !v.State(model.Pods, "").Seen() {
		return nil, refuse("", "blocks, handles and pods were not read completely")
	}
	if no := b.otherUser(t, ip, spared...); no != nil {
		return nil, no
	}
	if n := v.NodeByName(t.pod.Node); n == nil || n.OS == "windows" {
		return nil, refuse("", "%s is not a known node, or runs Windows", t.pod.Node)
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
		return nil, refuse("repair the block (PL1004) first", "the attribute of %s in %s is not readable", ip, block.CIDR)
	}
	p := &assignment{ip: ip, ordinal: a.Ordinal, block: block.CIDR, home: block.Node(), from: &change.Held{Attribute: *at, Sequence: block.SequenceOf(a.Ordinal)}}
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
func (b *builder) onlyBlock(ip netip.Addr) (*model.Block, *repair.Refusal) {
	var found *model.Block
	for block := range b.view.BlocksWith(ip) {
		if found != nil {
			return nil, refuse("decide which of the two blocks is right", "%s is in two blocks, %s and %s", ip, found.CIDR, block.CIDR)
		}
		found = block
	}
	if found != nil && found.Deleted {
		return nil, refuse("plan again when it is gone", "%s is being deleted", found.CIDR)
	}
	return found, nil
}

// kept refuses to take an allocation that is not of a pod.
func (b *builder) kept(t *runningPod, at *model.Attribute) *repair.Refusal {
	switch {
	case at.Handle == model.WindowsHandle:
		return refuse("", "IPAM reserves it for Windows")
	case at.Tunnel():
		return refuse("restart calico-node on that node: it takes another tunnel address", "IPAM has it as tunnel address of %s", at.Node)
	case at.Service != "" || at.Type != "":
		return refuse("", "IPAM has it for a service, or for something else than a pod")
	case at.VM != "" || at.Alternate != "":
		return refuse("KubeVirt and Calico move the address of a VM between its pods", "IPAM has it for a VM")
	case at.Cooling:
		return refuse("", "IPAM does not assign it yet after its release (cooldown)")
	case t.pod.NoIPAM:
		return refuse("exclude such addresses from IPAM with an IPReservation", "the pod requested its address without IPAM")
	default:
		return nil
	}
}

// fromOwnFormerSandbox allows a running pod to take over an allocation of its former sandbox.
// The caller has checked that no other sandbox has the address.
func (b *builder) fromOwnFormerSandbox(t *runningPod) takeover {
	return func(at *model.Attribute) *repair.Refusal {
		if model.HandleKey(at.Handle) == model.HandleKey(t.handle()) {
			return nil
		}
		if at.Namespace == t.pod.Namespace && at.Pod == t.pod.Name {
			return nil
		}
		return refuse("repair the allocation (PL1003) first", "IPAM has it for %s", cmp.Or(at.Namespace+"/"+at.Pod, at.Handle))
	}
}

// assignFree is assignment for an address that IPAM has as free.
func (b *builder) assignFree(t *runningPod, ip netip.Addr, block *model.Block) (*assignment, *repair.Refusal) {
	pool := b.view.PoolWith(ip)
	switch {
	case pool == nil:
		return nil, refuse("", "%s is in no IP pool", ip)
	case pool.Disabled:
		return nil, refuse("enable the pool, or delete the pod at a convenient time", "IP pool %s is disabled", pool.Name)
	case !pool.Serves("Workload"):
		return nil, refuse("", "IP pool %s is not for pods", pool.Name)
	case t.pod.NoIPAM:
		return nil, refuse("exclude such addresses from IPAM with an IPReservation", "the pod requested %s without IPAM", ip)
	}
	if name := b.reserved(ip); name != "" {
		return nil, refuse("IPAM does not assign it to others", "IPReservation %s contains %s", name, ip)
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
	return nil, refuse("repair the block (PL1004) first", "%s lists %s neither as allocated nor as free", block.CIDR, ip)
}

// counted reports that a handle counts all addresses that a block has for it.
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

// record plans the writes that make IPAM have the addresses for a running pod: its handle
// counts an address before a block allocates it. f must be a target whose proof is t.proof.
func (b *builder) record(f *finding.Finding, t *runningPod, ps ...*assignment) {
	for _, p := range ps {
		if p.missing != nil {
			b.createMissingBlock(f, p.missing, change.Ordinal{For: f.Key(), IP: p.ip, To: b.owner(t)})
		}
		on := model.Ref{Kind: model.KindBlock, Name: p.block.String()}
		b.step(raiseHandles, f, "count", handleRef(t.handle()), &change.Count{Handle: t.handle(), Raise: []change.Raise{{Block: p.block, IPs: []netip.Addr{p.ip}}}})
		if p.right {
			continue
		}
		do, from := "record", p.from
		if from != nil {
			do = "hand over"
		}
		if p.hold {
			hold := change.Owner{Handle: fmt.Sprintf("%s%s.%d", model.HoldPrefix, b.o.ID, p.ordinal), Secondary: map[string]string{"node": b.view.CalicoName(t.pod.Node)}}
			b.step(holdOrdinals, f, "hold", on, change.Ordinals{{For: f.Key(), IP: p.ip, From: from, To: &hold}})
			from = &change.Held{Attribute: model.Attribute{Handle: hold.Handle}}
		}
		b.step(writeOrdinals, f, do, on, change.Ordinals{{For: f.Key(), IP: p.ip, From: from, To: b.owner(t)}})
		if p.from != nil && p.from.Handle != "" && model.HandleKey(p.from.Handle) != model.HandleKey(t.handle()) {
			b.recount(f, p.from.Handle, slices.Collect(b.view.AllocationsBy(p.from.Handle)))
		}
	}
}

// owner gives the attribute that Calico's CNI plugin writes for a pod.
func (b *builder) owner(t *runningPod) *change.Owner {
	return &change.Owner{Handle: t.handle(), Secondary: map[string]string{
		"node": b.view.CalicoName(t.pod.Node), "pod": t.pod.Name, "namespace": t.pod.Namespace,
		change.Timestamp: b.o.Made.Time().UTC().String(),
	}}
}

// routed gives the risk of assignments. Every Felix routes a block to its node, and borrowed
// addresses of it one by one to the node in their attribute. So routes change if IPAM names
// another node than before for an address, even if it is the node that runs the pod.
func (b *builder) routed(t *runningPod, ps ...*assignment) change.Risk {
	for _, p := range ps {
		before := p.home
		if p.from != nil {
			before = p.from.Node
		}
		if p.missing != nil || !p.right && !b.view.SameNode(before, t.pod.Node) {
			return change.Disruptive
		}
	}
	return change.Safe
}

// defaultGracePeriod is the garbage-collection grace period in seconds if the configuration was not read.
const defaultGracePeriod = 15 * 60

// watchSeconds is for how long a record is watched after the repair: the IPAM garbage
// collector may still release it because of its cache, until 1.5 grace periods have passed.
func (b *builder) watchSeconds() int64 {
	grace := int64(defaultGracePeriod)
	if c, ok := b.view.Collector(); ok {
		grace = c.LeakGracePeriod
	}
	return grace * 3 / 2
}
