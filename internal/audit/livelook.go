package audit

import (
	"context"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A Second is a second look at suspicions, which is had aside while changes go on.
type Second struct {
	s      *model.Snapshot
	src    Source
	calico detect.Calico
	ds     []*detect.Detector
	begun  model.Time
	asked  []finding.Finding
	found  []finding.Finding
	seen   model.Time
}

// Reread begins a second look at what is due; nil if nothing is, or cannot be looked at.
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
		x.next = 0 // until this look has ended
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

// Run reads the candidates, live.
func (s *Second) Run(ctx context.Context) {
	judge := func(v *model.View, subjects []model.Subject) detect.Result {
		return detect.JudgeAs(v, s.calico, subjects, s.ds...)
	}
	found := make([]finding.Finding, len(s.asked))
	copy(found, s.asked)
	s.found, _, s.seen = lookAgain(ctx, s.s, s.src, judge, found)
	s.s = nil
}

// Settle takes what a second look said. What became another meanwhile has a look of its own.
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
