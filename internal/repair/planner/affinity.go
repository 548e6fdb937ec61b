package planner

import (
	"cmp"
	"time"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
	"plumbline.dev/plumbline/internal/repair/proven"
)

func (b *builder) wantAffinity(f *finding.Finding, a *model.Affinity, do, want string) {
	b.step(cleanUp, f, do, a.Ref(), b.labelled(change.Affinity{Node: a.Node, CIDR: a.CIDR, Want: want, From: cmp.Or(a.State, change.AffinityConfirmed), UID: a.UID}))
}

// labelled adds the labels to an affinity that exists after the change: IPAM since 3.31 does not
// select affinities without labels. Before, they have none.
func (b *builder) labelled(a change.Affinity) *change.Affinity {
	calico := b.view.Info().Calico
	a.Bare = proven.Before(calico, 3, 30)
	if a.Want != change.AffinityGone && !proven.Before(calico, 3, 31) {
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
