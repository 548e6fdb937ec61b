package audit

import (
	"context"
	"slices"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A judgement is the last one of a series: what its detectors found, as rereads have seen it since.
type judgement struct {
	v       *model.View // not that of a report, which others read
	found   []finding.Finding
	refs    map[string][]model.Ref // by key of a finding: evidence that rereads no longer saw
	others  map[string]bool        // keys of findings that are not reported
	gaps    []model.Coverage
	skipped []detect.Skip
	judged  map[finding.Code]int
}

// Again rereads what is due, without judging the cluster again: nothing new is found, and what is not
// due is reported as it was. In a large cluster that takes a small part of the time; all other rows are
// those of the last judgement, as they are for a check. It returns nil if nothing is due, or if nodes
// that were read then cannot be reread now: their rows would prove themselves.
func (w *Series) Again(ctx context.Context, now model.Time, src Source) *Report {
	if due := w.Due(); w.last == nil || due.IsZero() || due > now {
		return nil
	}
	if src.Nodes == nil && w.last.v.Agents() {
		return nil
	}
	return w.decide(ctx, now, src)
}

// decide rereads what is due and settles it.
func (w *Series) decide(ctx context.Context, now model.Time, src Source) *Report {
	l := w.last
	v := l.v.Aside()
	r := &Report{View: v, Taken: v.Snapshot().Meta.Taken, Calico: detect.Recognise(v), Skipped: l.skipped, Judged: l.judged, Gaps: slices.Clone(l.gaps)}
	due, rest := w.divide(l.found, now)
	seen := now
	if src.Kubernetes != nil && src.Calico != nil && len(due) > 0 {
		looked, lost, at := reread(ctx, v.Snapshot(), l.v, src, w.opts.Detectors, due, l.refs)
		r.Gaps, seen = append(r.Gaps, lost...), at
		w.missed(due, looked, now)
		l.remember(due)
		l.reread(looked, rest)
		due = looked
	}
	due = w.settle(due, rest, now, seen)
	r.Memory = w.memory
	finish(r, append(due, rest...), w.opts)
	return r
}

// remember keeps what findings named before they are reread: the rows of the last judgement still have
// it, so later rereads must look whether it is there.
func (l *judgement) remember(due []finding.Finding) {
	if l.refs == nil {
		l.refs = map[string][]model.Ref{}
	}
	for i := range due {
		k := due[i].Key()
		for _, e := range due[i].Evidence {
			if !slices.Contains(l.refs[k], e.Ref) {
				l.refs[k] = append(l.refs[k], e.Ref)
			}
		}
	}
}

// reread takes over what a reread saw, as a detector would have found it.
func (l *judgement) reread(looked, rest []finding.Finding) {
	l.found = slices.Concat(looked, rest)
	for i := range l.found {
		f := &l.found[i]
		f.State, f.Since, f.RecheckAfter, f.Why = finding.Unconfirmed, 0, 0, ""
	}
}
