package audit

import (
	"context"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A Second is a reread of unconfirmed findings. Live.Reread creates it, Run executes it in
// another goroutine while Live takes changes, Live.Settle applies it. It shares no memory
// with Live that either changes.
type Second struct {
	s      *model.Snapshot    // the rows of the findings; nil after Run
	src    Source             // where to reread
	calico detect.Calico      // as Live detected it when the reread began
	ds     []*detect.Detector // detectors to run again
	begun  model.Time         // when the reread began: ages count up to then
	asked  []finding.Finding  // the findings that are due, as they were then
	found  []finding.Finding  // result of Run, see rereadWith
	seen   model.Time         // when Run ended: first observations count from then
}

// Reread prepares a reread of the findings that are due; nil if none is, or if Kubernetes or
// Calico cannot be reread. Their next is zero until Settle.
func (l *Live) Reread(now model.Time, src Source) *Second {
	if src.Kubernetes == nil || src.Calico == nil {
		return nil
	}
	second := &Second{src: src, calico: l.calico, ds: l.opts.Detectors, begun: now}
	subjects := map[model.Subject]struct{}{}
	poison := false
	for _, x := range l.standing {
		if x.next.IsZero() || x.next > now {
			continue
		}
		x.next = 0 // until Settle
		add(subjects, x.from)
		poison = poison || x.Code == detect.PL5001.Code
		second.asked = append(second.asked, x.Finding)
	}
	if len(second.asked) == 0 {
		return nil
	}
	second.s = l.store.Aside(subjects, poison, now)
	return second
}

// Run rereads the objects and evaluates them again.
func (s *Second) Run(ctx context.Context) {
	judge := func(v *model.View, subjects []model.Subject) detect.Result {
		return detect.JudgeAs(v, s.calico, subjects, s.ds...)
	}
	found := make([]finding.Finding, len(s.asked))
	copy(found, s.asked)
	s.found, _, s.seen = rereadFindings(ctx, s.s, s.src, judge, found)
	s.s = nil
}

// Settle applies a reread. A finding whose evidence or class changed meanwhile is skipped: it
// is reread on its own schedule.
func (l *Live) Settle(s *Second) {
	found := index(s.found)
	for i := range s.asked {
		f := &s.asked[i]
		x := l.standing[f.Key()]
		if x == nil || !x.Same(f) || x.Class != f.Class {
			continue
		}
		l.settle(x, found[f.Key()], s.seen, s.begun)
	}
}
