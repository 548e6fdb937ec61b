package planner

import (
	"cmp"
	"net/netip"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// affinityMinAge is how long an affinity without a block must exist before it is removed:
// the next ADD on its node normally creates the block.
const affinityMinAge = 24 * time.Hour

// planAffinity makes affinities agree with blocks. Nodes announce routes by affinity.
// Invariants: the affinity that a block names is never removed, and the affinity field of a
// block is never changed.
func planAffinity(b *builder, f *finding.Finding) *repair.Refusal {
	if f.Subject.Kind == model.KindBlock {
		return b.missingAffinity(f)
	}
	a := b.affinity(f.Subject)
	if a == nil {
		return &repair.Refusal{Why: "the affinity is gone", Advice: "run plumbline check again"}
	}
	block := b.view.BlockAt(a.CIDR)
	switch named := block != nil && block.Affinity == "host:"+a.Node; {
	case b.view.Stranger(a.Node):
		return &repair.Refusal{Why: "node " + a.Node + " belongs to another cluster, or to none", Advice: "repair it from that cluster"}
	case block == nil && b.view.NodeByName(a.Node) == nil:
		gone := model.Ref{Kind: model.KindNode, Name: a.Node}
		b.target(f, change.Safe, change.Proof{NotInUse: &change.NotInUse{Absent: []model.Ref{gone}}})
		b.wantAffinity(f, a, "remove", change.AffinityGone)
	case block == nil && b.age(f, a) < affinityMinAge:
		return &repair.Refusal{Why: "the next pod that starts on " + a.Node + " normally creates the block; Plumbline waits a day", Advice: "start a pod on " + a.Node + ", or plan again tomorrow"}
	case block == nil:
		b.target(f, change.Safe, change.Proof{})
		b.wantAffinity(f, a, "remove", change.AffinityGone)
	case b.view.NodeByName(a.Node) == nil && named && len(block.Held) > 0:
		return &repair.Refusal{Why: "its block still holds addresses and is routed by this affinity", Advice: "repair PL1001 of the block first; the IPAM garbage collector then removes block and affinity"}
	case b.view.NodeByName(a.Node) == nil && named:
		return &repair.Refusal{Why: "its block is empty: the IPAM garbage collector removes block and affinity", Advice: "if it does not, see PL5002"}
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
		return &repair.Refusal{Why: "the block has affinity " + cmp.Or(block.Affinity, "none") + " and no affinity object agrees: it is not known which is right", Advice: "find the node that runs the block's pods, and delete those pods one by one"}
	}
	return nil
}

// missingAffinity creates the affinity that a block names.
func (b *builder) missingAffinity(f *finding.Finding) *repair.Refusal {
	cidr, err := netip.ParsePrefix(f.Subject.Name)
	block := b.view.BlockAt(cidr)
	if err != nil || block == nil || block.Node() == "" {
		return &repair.Refusal{Why: "the block is gone, or has no affinity", Advice: "run plumbline check again"}
	}
	node := block.Node()
	if b.view.NodeByName(node) == nil {
		return &repair.Refusal{Why: "node " + node + " does not exist", Advice: "repair PL1001 of the block first; the IPAM garbage collector then removes the block"}
	}
	for other := range b.view.AffinitiesOf(cidr) {
		return &repair.Refusal{Why: "node " + other.Node + " has an affinity for the block", Advice: "repair PL1007/" + other.Ref().Name + " first"}
	}
	t := b.target(f, change.Disruptive, change.Proof{})
	t.Warnings = []string{"with BGP, " + node + " starts to announce " + cidr.String()}
	ref := model.Ref{Kind: model.KindAffinity, Name: node + "/" + cidr.String()}
	b.step(cleanUp, f, "create", ref, b.labelled(change.Affinity{Node: node, CIDR: cidr, Want: change.AffinityConfirmed}))
	return nil
}
