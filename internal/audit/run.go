package audit

import (
	"context"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Run reads the cluster and evaluates it.
func Run(ctx context.Context, src Source, o Options) *Report {
	if o.Progress == nil {
		o.Progress = func(string, int, bool) {}
	}
	s := observe.Snapshot(ctx, o.Progress, src.Collectors...)
	if src.Adjust != nil {
		src.Adjust(s)
	}
	return Judge(ctx, s, src, o)
}

// Judge is Run for a snapshot that exists already. Order: run the detectors, reread, confirm,
// suppress, fold.
func Judge(ctx context.Context, s *model.Snapshot, src Source, o Options) *Report {
	v := model.Seal(s)
	if src.Ways != nil {
		if open := detect.OpenWays(v); len(open) > 0 {
			o.Progress("ways between nodes", 0, false)
			src.Ways(ctx, s, open)
			o.Progress("ways between nodes", len(open), true)
			v = model.Seal(s)
		}
	}
	res := detect.Run(v, o.Detectors...)
	r := &Report{View: v, Taken: s.Meta.Taken, Calico: detect.Recognise(v), Skipped: res.Skipped, Judged: res.Judged}
	r.Gaps = gaps(v)
	found, others := keep(res.Findings, o.Keep)
	// Ages count up to the beginning of this run, and from the end of the reread that first
	// found a difference: neither makes an age too long.
	seen := s.Meta.Taken
	if src.Kubernetes != nil && src.Calico != nil && waits(found) {
		var lost []model.Coverage
		found, lost, seen = reread(ctx, s, v, src, o.Detectors, found, nil)
		r.Gaps = append(r.Gaps, lost...)
	}
	var memory Memory
	if o.Recall != nil {
		memory = o.Recall(s.Meta.GUID)
	}
	st := settler{now: r.Taken, fixed: o.Settle, memory: memory, gcGracePeriod: gracePeriod(v)}
	r.Memory = remember(memory, found, r.Judged, others, seen)
	for i := range found {
		st.settle(&found[i])
	}
	finish(r, found, o)
	return r
}

// finish completes a report with what was found and settled.
func finish(r *Report, found []finding.Finding, o Options) {
	finding.Sort(found) // which finding explains which does not depend on the order of reading
	if f := frozenCollector(r, found); f != nil && (o.Keep == nil || o.Keep(f)) {
		found = append(found, *f)
		finding.Sort(found)
	}
	leakedShare(r.View, found)
	r.MassChanges = append(restored(found), massChanges(found, r.Judged)...)
	if o.Suppress != nil {
		r.Suppressing = o.Suppress()
		found, r.Suppressed = suppress(found, r.Suppressing, r.Taken)
		found = append(found, expired(r.Suppressing, r.Taken)...)
	}
	found, r.Folded = fold(found)
	for _, f := range found {
		if f.State == finding.Confirmed {
			r.Findings = append(r.Findings, f)
		} else {
			r.Unconfirmed = append(r.Unconfirmed, f)
		}
	}
	finding.Sort(r.Findings)
	finding.Sort(r.Unconfirmed)
}

// keep returns the findings that want accepts, and the keys of the others.
func keep(fs []finding.Finding, want func(*finding.Finding) bool) (kept []finding.Finding, others map[string]bool) {
	if want == nil {
		return fs, nil
	}
	others = map[string]bool{}
	for i := range fs {
		if want(&fs[i]) {
			kept = append(kept, fs[i])
		} else {
			others[fs[i].Key()] = true
		}
	}
	return kept, others
}

// gaps is the coverage of the tables that were not read completely.
func gaps(v *model.View) []model.Coverage {
	var out []model.Coverage
	for _, c := range v.Coverage() {
		if !c.State.Seen() {
			out = append(out, c)
		}
	}
	return out
}

// waits reports whether a finding needs a reread.
func waits(fs []finding.Finding) bool {
	for i := range fs {
		if fs[i].Class != finding.Now {
			return true
		}
	}
	return false
}
