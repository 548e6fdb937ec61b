package change

import (
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// A NewBlock creates a missing block of running pods. Their addresses (Born) are allocated in
// the same write: if they were free for a moment, Calico could assign them again.
type NewBlock struct {
	single
	Node   string    `json:"node"`
	Strict bool      `json:"strict,omitempty"`
	Born   []Ordinal `json:"ordinals,omitempty"` // From is not used
	// Hold allocates all other addresses to UnknownHandle: a node that may use one of them did not
	// answer. Without it all nodes must verify that none is in use.
	Hold bool `json:"hold,omitempty"`
}

// Key is the name in the JSON of a step.
func (n *NewBlock) Key() string { return "newBlock" }

// Kind is that of blocks.
func (n *NewBlock) Kind() model.Kind { return model.KindBlock }

// Describe names the node that gets the block.
func (n *NewBlock) Describe() string {
	s := "create with affinity " + n.Node
	if n.Hold {
		s += ", all other addresses allocated to an unknown owner"
	}
	return s
}

// LeastRisk is Safe: the addresses are in use by the pods that they are recorded for.
func (n *NewBlock) LeastRisk() Risk { return Safe }

// Validate returns an error unless every address that is allocated belongs to the running pod
// of its finding, or to a tunnel.
func (n *NewBlock) Validate(u Use) error {
	for _, o := range n.Born {
		if p := u.Proofs[o.For]; o.To == nil || p == nil || !p.Running.receives(o) {
			return fmt.Errorf("it records %s without verification that the pod that receives the record is running", o.IP)
		}
	}
	return u.each(unproven)
}

// Merge adds addresses that other findings record.
func (n *NewBlock) Merge(with Change) (Change, bool) {
	more, ok := with.(*NewBlock)
	if !ok {
		return nil, false
	}
	n.Born, n.Hold = append(n.Born, more.Born...), n.Hold || more.Hold
	return n, true
}

// Without gives the block without the addresses of findings that are gone. Tunnel addresses
// stay: they belong to no finding.
func (n *NewBlock) Without(gone func(finding string) bool) Change {
	left := *n
	left.Born = slices.DeleteFunc(slices.Clone(n.Born), func(o Ordinal) bool { return gone(o.For) && !o.To.tunnel() })
	return &left
}

// Undo refuses.
func (n *NewBlock) Undo(w Write, u Undoer) {
	u.Refuse(w.Finding, "the block stays: Calico deletes it when it is empty and has no affinity")
}

// Reads names the affinity that the node must have for the block, and the handles that get
// addresses.
func (n *NewBlock) Reads(on model.Ref, _ model.Object) ([]model.Ref, error) {
	return append(receivers(n.Born), n.claim(on)), nil
}

func (n *NewBlock) claim(block model.Ref) model.Ref {
	return model.Ref{Kind: model.KindAffinity, Name: n.Node + "/" + block.Name}
}

// Edit creates the block for a node that has an affinity for it, as Calico does. Born is
// allocated from the start.
func (n *NewBlock) Edit(sc Scene) (Edited, error) {
	cidr, err := netip.ParsePrefix(sc.On.Name)
	if err != nil || model.Size(cidr, MaxOrdinals+1) > MaxOrdinals {
		return Edited{}, fmt.Errorf("%q is not the CIDR of a block", sc.On.Name)
	}
	owner := "host:" + n.Node
	if sc.Live.There() {
		b, err := readBlock(sc.Live)
		if err != nil {
			return Edited{}, err
		}
		if b.Affinity.V == owner && !b.Deleted.V {
			return Edited{}, ErrAlready
		}
		return Edited{}, moved("the block exists with affinity %s", b.Affinity.V)
	}
	if claim := sc.Also[n.claim(sc.On)]; !claim.There() {
		return Edited{}, moved("the node has no affinity for the block any more")
	}
	b := emptyBlock(cidr, owner, sc.Now)
	if !sc.Etcd {
		b.StrictAffinity = lossless.Some(n.Strict)
	}
	born := slices.DeleteFunc(slices.Clone(n.Born), func(o Ordinal) bool { return o.To == nil || !o.To.tunnel() && !sc.Keep(o.For) })
	short, err := b.uncounted(&sc, born)
	if err != nil {
		return Edited{}, err
	}
	for _, o := range born {
		if short[o.To.Handle] {
			return Edited{}, moved("handle %s does not count %s yet", o.To.Handle, o.IP)
		}
		if i := b.ordinal(o.IP); i >= 0 && b.free(i) {
			b.give(i, o.To.attribute(nil))
		}
	}
	if n.Hold {
		b.holdFree()
	}
	if err := b.finish(); err != nil {
		return Edited{}, err
	}
	body, err := b.body()
	if err != nil {
		return Edited{}, err
	}
	o := sc.Live
	o.Body = body
	e, err := sc.edited(o, nil, "new, affinity "+n.Node)
	if err == nil {
		e.Takes = b.takeFree(e.For[0])
	}
	return e, err
}

// takeFree gives the addresses that a new block offers: nobody knows who had them.
func (b *block) takeFree(finding string) []Taking {
	var out []Taking
	for _, n := range b.Unallocated.V {
		out = append(out, Taking{For: finding, IP: model.Offset(b.cidr.Masked(), n), Node: b.node(), Free: true})
	}
	return out
}

// holdFree allocates all free addresses to UnknownHandle.
func (b *block) holdFree() {
	for _, n := range slices.Clone(b.Unallocated.V) {
		b.give(int(n), b.unknownOwner().attribute(nil))
	}
}

// emptyBlock gives a block with all addresses free.
func emptyBlock(cidr netip.Prefix, affinity string, now model.Time) *block {
	b := &block{cidr: cidr, Block: object.Block{
		CIDR: lossless.Some(cidr.String()), Affinity: lossless.Some(affinity), Allocations: lossless.Some(make([]*int32, model.Size(cidr, MaxOrdinals))),
		Attributes: lossless.Some([]object.Attribute{}), Sequence: lossless.Some(uint64(now) * 1e9),
		Sequences: lossless.Some(map[string]uint64{}), Deleted: lossless.Some(false),
	}}
	b.listFree()
	return b
}
