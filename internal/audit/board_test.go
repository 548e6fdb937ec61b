package audit_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/controller/objects"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// TestNotReadIsNotResolved: whatever is not read, the controller's objects do not say that a finding is resolved.
func TestNotReadIsNotResolved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		f := faults[rapid.IntRange(0, len(faults)-1).Draw(t, "fault")]
		if f.fits(w) {
			f.make(w)
		}
		lost := losses(t, &w.s)
		v := model.Seal(&w.s)
		before := detect.Run(v, detect.All...)
		poor := lacking(w.s, lost, rapid.Uint64().Draw(t, "rows"))
		pv := model.Seal(&poor)
		after := detect.Run(pv, detect.All...)
		b := objects.NewBoard(func(c finding.Code) string { return string(c) })
		rep := func(v *model.View, r detect.Result, at model.Time) *audit.Report {
			out := &audit.Report{View: v, Taken: at, Skipped: r.Skipped, Judged: r.Judged}
			for _, c := range v.Coverage() {
				if !c.State.Seen() {
					out.Gaps = append(out.Gaps, c)
				}
			}
			for _, f := range r.Findings {
				if f.Class == finding.Node {
					out.Unconfirmed = append(out.Unconfirmed, f)
				} else {
					f.State = finding.Confirmed
					out.Findings = append(out.Findings, f)
				}
			}
			return out
		}
		b.Take(rep(v, before, 1_800_000_000))
		for _, tr := range b.Take(rep(pv, after, 1_800_000_020)) {
			if tr.State == v1alpha1.StateResolved && !strings.HasPrefix(tr.Object, "pl9001") {
				t.Errorf("%s after %s, without %v", tr.Says, f.name, lost)
			}
		}
	})
}
