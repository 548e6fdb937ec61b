package repair

import (
	"cmp"
	"net/netip"
	"time"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// affinityMinAge is how long an affinity without a block must exist before it is removed:
// the next ADD on its node normally creates the block.
const affinityMinAge = 24 * time.Hour

// planAffinity makes affinities agree with blocks. Nodes announce routes by affinity.
// Invariants: the affinity that a block names is never removed, and the affinity field of a
// block is never changed.
func planAffinity(b *builder, f *finding.Finding) *Refusal {
	if f.Subject.Kind == model.KindBlock {
		return b.missingAffinity(f)
	}
	a := b.affinity(f.Subject)
	if a == nil {
		return &Refusal{Why: "the affinity is gone", Advice: "run plumbline check again"}
	}
	block := b.view.BlockAt(a.CIDR)
	switch named := block != nil && block.Affinity == "host:"+a.Node; {
	case b.view.Stranger(a.Node):
		return &Refusal{Why: "node " + a.Node + " belongs to another cluster, or to none", Advice: "repair it from that cluster"}
	case block == nil && b.view.NodeByName(a.Node) == nil:
		gone := model.Ref{Kind: model.KindNode, Name: a.Node}
		b.target(f, change.Safe, change.Proof{NotInUse: &change.NotInUse{Absent: []model.Ref{gone}}})
		b.wantAffinity(f, a, "remove", change.AffinityGone)
	case block == nil && b.age(f, a) < affinityMinAge:
		return &Refusal{Why: "the next pod that starts on " + a.Node + " normally creates the block; Plumbline waits a day", Advice: "start a pod on " + a.Node + ", or plan again tomorrow"}
	case block == nil:
		b.target(f, change.Safe, change.Proof{})
		b.wantAffinity(f, a, "remove", change.AffinityGone)
	case b.view.NodeByName(a.Node) == nil && named && len(block.Held) > 0:
		return &Refusal{Why: "its block still holds addresses and is routed by this affinity", Advice: "repair PL1001 of the block first; the IPAM garbage collector then removes block and affinity"}
	case b.view.NodeByName(a.Node) == nil && named:
		return &Refusal{Why: "its block is empty: the IPAM garbage collector removes block and affinity", Advice: "if it does not, see PL5002"}
	case named:
		t := b.target(f, change.Disruptive, change.Proof{})
		t.Warnings = []string{"with BGP, " + a.Node + " starts to announce " + a.CIDR.String()}
		b.wantAffinity(f, a, "confirm", change.AffinityConfirmed)
	case b.rightful(block) != nil:
		t := b.target(f, change.Disruptive, change.Proof{})
		t.Warnings = []string{"with BGP, " + a.CIDR.String() + " has an outage until this is done"}
		b.wantAffinity(f, a, "remove", change.AffinityGone)
	case block.Affinity == "" && a.State == "pendingDeletion":
		b.target(f, change.Safe, change.Proof{}) // Calico's release of a block stopped before its third and last write
		b.wantAffinity(f, a, "remove", change.AffinityGone)
	default:
		return &Refusal{Why: "the block has affinity " + cmp.Or(block.Affinity, "none") + " and no affinity object agrees: it is not known which is right", Advice: "find the node that runs the block's pods, and delete those pods one by one"}
	}
	return nil
}

// missingAffinity creates the affinity that a block names.
func (b *builder) missingAffinity(f *finding.Finding) *Refusal {
	cidr, err := netip.ParsePrefix(f.Subject.Name)
	block := b.view.BlockAt(cidr)
	if err != nil || block == nil || block.Node() == "" {
		return &Refusal{Why: "the block is gone, or has no affinity", Advice: "run plumbline check again"}
	}
	node := block.Node()
	if b.view.NodeByName(node) == nil {
		return &Refusal{Why: "node " + node + " does not exist", Advice: "repair PL1001 of the block first; the IPAM garbage collector then removes the block"}
	}
	for other := range b.view.AffinitiesOf(cidr) {
		return &Refusal{Why: "node " + other.Node + " has an affinity for the block", Advice: "repair PL1007/" + other.Ref().Name + " first"}
	}
	t := b.target(f, change.Disruptive, change.Proof{})
	t.Warnings = []string{"with BGP, " + node + " starts to announce " + cidr.String()}
	ref := model.Ref{Kind: model.KindAffinity, Name: node + "/" + cidr.String()}
	b.step(cleanUp, f, "create", ref, labelled(change.Affinity{Node: node, CIDR: cidr, Want: change.AffinityConfirmed}))
	return nil
}

// planLabels adds the labels by which IPAM selects the affinities of a node.
func planLabels(b *builder, f *finding.Finding) *Refusal {
	a := b.affinity(f.Subject)
	if a == nil || a.Labelled {
		return &Refusal{Why: "the affinity is gone, or has its labels", Advice: "run plumbline check again"}
	}
	b.target(f, change.Safe, change.Proof{})
	b.wantAffinity(f, a, "label", change.AffinityLabelled)
	return nil
}

func (b *builder) wantAffinity(f *finding.Finding, a *model.Affinity, do, want string) {
	b.step(cleanUp, f, do, a.Ref(), labelled(change.Affinity{Node: a.Node, CIDR: a.CIDR, Want: want, From: cmp.Or(a.State, change.AffinityConfirmed), UID: a.UID}))
}

// labelled adds the labels to an affinity that exists after the change: IPAM does not select
// affinities without labels.
func labelled(a change.Affinity) *change.Affinity {
	if a.Want != change.AffinityGone {
		a.Label = object.AffinityLabels(a.Node, a.CIDR)
	}
	return &a
}

// affinity finds the affinity with that ref; nil if it is gone.
func (b *builder) affinity(r model.Ref) *model.Affinity {
	for _, row := range b.view.Find(model.Subject{Table: model.Affinities, Ref: r}) {
		return b.view.Affinity(row)
	}
	return nil
}

// rightful gives the affinity object that a block names, or nil.
func (b *builder) rightful(block *model.Block) *model.Affinity {
	for a := range b.view.AffinitiesOf(block.CIDR) {
		if block.Affinity == "host:"+a.Node {
			return a
		}
	}
	return nil
}

// age is for how long the affinity is known to be unchanged: since its last write, else since the finding started.
func (b *builder) age(f *finding.Finding, a *model.Affinity) time.Duration {
	if !a.Written.IsZero() {
		return b.o.Made.Sub(a.Written)
	}
	return f.Age(b.o.Made)
}
