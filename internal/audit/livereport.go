package audit

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// Report returns the current findings as a check would. Its view has only the small tables.
func (l *Live) Report(now model.Time) *Report {
	r := &Report{View: model.Seal(l.store.Small(now)), Taken: now, Calico: l.calico, Skipped: l.skips, Judged: l.judged, Gaps: l.store.Gaps(), Memory: l.Memory(now)}
	found := make([]finding.Finding, 0, len(l.standing))
	for _, x := range l.standing {
		if f := x.as(); l.opts.Keep == nil || l.opts.Keep(&f) {
			found = append(found, f)
		}
	}
	finding.Sort(found) // so that fold does not depend on the order of the map
	leakedShare(r.View, found)
	r.MassChanges = massChanges(found, r.Judged)
	found, r.Suppressed = suppress(found, l.opts.Suppress, now)
	found = append(found, expired(l.opts.Suppress, now)...)
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
	return r
}
