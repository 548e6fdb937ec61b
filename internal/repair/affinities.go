package repair

import (
	"cmp"
	"net/netip"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// left is how long an affinity without a block is left alone: its node's next ADD heals it.
const left = 24 * time.Hour

// planAffinity makes affinities agree with blocks (1.6). Nodes announce by them, so the one
// that a block names is never taken away, and no block's own affinity is changed.
func planAffinity(b *builder, f *finding.Finding) {
	if f.Subject.Kind == model.KindBlock {
		b.missingAffinity(f)
		return
	}
	a := b.affinity(f.Subject)
	if a == nil {
		b.refuse(f, "it is not there any more", "look again")
		return
	}
	block := b.view.BlockAt(a.CIDR)
	switch named := block != nil && block.Affinity == "host:"+a.Node; {
	case b.view.Stranger(a.Node):
		b.refuse(f, "node "+a.Node+" is another cluster's, or of none", "repair it from there")
	case block == nil && b.view.NodeByName(a.Node) == nil:
		gone := model.Ref{Kind: model.KindNode, Name: a.Node}
		b.target(f, Safe, Proof{NotInUse: &NotInUse{Absent: []model.Ref{gone}}})
		b.wantAffinity(f, a, "remove", AffinityGone)
	case block == nil && b.age(f, a) < left:
		b.refuse(f, "the next pod that starts on "+a.Node+" heals it; it is left alone for a day", "start a pod there, or plan again tomorrow")
	case block == nil:
		b.target(f, Safe, Proof{})
		b.wantAffinity(f, a, "remove", AffinityGone)
	case b.view.NodeByName(a.Node) == nil && named && len(block.Held) > 0:
		b.refuse(f, "its block still holds addresses, and is routed by it", "repair PL1001 of the block first; Calico's collector then removes both")
	case b.view.NodeByName(a.Node) == nil && named:
		b.refuse(f, "its block is empty, and Calico's collector removes both", "if it does not, see PL5002")
	case named:
		t := b.target(f, Disruptive, Proof{})
		t.Warnings = []string{"where routes are announced by BGP, " + a.Node + " begins to announce " + a.CIDR.String()}
		b.wantAffinity(f, a, "confirm", AffinityConfirmed)
	case b.rightful(block) != nil:
		t := b.target(f, Disruptive, Proof{})
		t.Warnings = []string{"where routes are announced by BGP, this is an outage for " + a.CIDR.String() + " until it is done"}
		b.wantAffinity(f, a, "remove", AffinityGone)
	case block.Affinity == "" && a.State == "pendingDeletion":
		b.target(f, Safe, Proof{}) // the last of three writes of a release
		b.wantAffinity(f, a, "remove", AffinityGone)
	default:
		b.refuse(f, "the block belongs to "+cmp.Or(block.Affinity, "nobody")+", and no affinity says so: neither is known to be right", "see which node has the block's pods, and move them away one by one")
	}
}

// missingAffinity makes the affinity that a block names.
func (b *builder) missingAffinity(f *finding.Finding) {
	cidr, err := netip.ParsePrefix(f.Subject.Name)
	block := b.view.BlockAt(cidr)
	if err != nil || block == nil || block.Node() == "" {
		b.refuse(f, "the block is not there any more, or belongs to nobody", "look again")
		return
	}
	node := block.Node()
	if b.view.NodeByName(node) == nil {
		b.refuse(f, "node "+node+" does not exist", "repair PL1001 of the block first; Calico's collector then removes it")
		return
	}
	for other := range b.view.AffinitiesOf(cidr) {
		b.refuse(f, "node "+other.Node+" has one for it", "repair PL1007/"+other.Ref().Name+" first")
		return
	}
	t := b.target(f, Disruptive, Proof{})
	t.Warnings = []string{"where routes are announced by BGP, " + node + " begins to announce " + cidr.String()}
	ref := model.Ref{Kind: model.KindAffinity, Name: node + "/" + cidr.String()}
	b.step(cleanUp, f, "create", ref, Change{Affinity: &Affinity{Node: node, CIDR: cidr, Want: AffinityConfirmed}})
}

// planLabels puts on an affinity the labels by which IPAM finds it.
func planLabels(b *builder, f *finding.Finding) {
	a := b.affinity(f.Subject)
	if a == nil || a.Labelled {
		b.refuse(f, "it is not there any more, or has them", "look again")
		return
	}
	b.target(f, Safe, Proof{})
	b.wantAffinity(f, a, "label", AffinityLabelled)
}

func (b *builder) wantAffinity(f *finding.Finding, a *model.Affinity, do, want string) {
	b.step(cleanUp, f, do, a.Ref(), Change{Affinity: &Affinity{Node: a.Node, CIDR: a.CIDR, Want: want, From: cmp.Or(a.State, AffinityConfirmed), UID: a.UID}})
}

// affinity finds one by its name.
func (b *builder) affinity(r model.Ref) *model.Affinity {
	for _, row := range b.view.Find(model.Subject{Table: model.Affinities, Ref: r}) {
		return b.view.Affinity(row)
	}
	return nil
}

// rightful gives the affinity that a block names, or nil.
func (b *builder) rightful(block *model.Block) *model.Affinity {
	for a := range b.view.AffinitiesOf(block.CIDR) {
		if block.Affinity == "host:"+a.Node {
			return a
		}
	}
	return nil
}

// age is how long it is known to have been so.
func (b *builder) age(f *finding.Finding, a *model.Affinity) time.Duration {
	if !a.Written.IsZero() {
		return b.o.Made.Sub(a.Written)
	}
	return f.Age(b.o.Made)
}
