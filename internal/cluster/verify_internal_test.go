package cluster

import (
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// What a repair uncovers about its pods is reported, also by a run that was resumed when the finding that
// had hidden it was already gone; what was there before is no reason to call the repair unfinished.
func TestOthers(t *testing.T) {
	t.Parallel()
	ip := model.Ref{Kind: model.KindAddress, Name: "10.244.1.5"}
	pod := model.Ref{Kind: model.KindPod, Name: "shop/db-0"}
	shared := finding.Finding{Code: finding.PL2010, Severity: finding.Error, Subject: ip, About: []model.Ref{ip, pod}}
	route := finding.Finding{Code: finding.PL3003, Severity: finding.Error, Subject: pod, About: []model.Ref{pod, ip}}
	slow := finding.Finding{Code: finding.PL3008, Severity: finding.Warning, Subject: pod, About: []model.Ref{pod, ip}}
	elsewhere := finding.Finding{Code: finding.PL3003, Severity: finding.Error, Subject: model.Ref{Kind: model.KindPod, Name: "shop/db-1"}}
	failing := finding.Finding{Code: finding.PL4007, Severity: finding.Error, Subject: pod, About: []model.Ref{pod}}
	wants := map[string]bool{shared.Key(): true}
	for name, c := range map[string]struct {
		before *audit.Report // nil for a run that is resumed
		after  finding.Finding
		broken int
	}{
		"hidden before":                    {&audit.Report{Findings: []finding.Finding{shared}}, route, 1},
		"resumed, hidden":                  {nil, route, 1},
		"of another kind, there before":    {&audit.Report{Findings: []finding.Finding{shared, failing}}, failing, 0},
		"would be hidden, if it were seen": {&audit.Report{Findings: []finding.Finding{route}, Unconfirmed: []finding.Finding{shared}}, route, 1},
	} {
		r := &Run{wants: wants, about: podsIn(&audit.Report{}, wants)}
		if c.before != nil {
			r.about = podsIn(c.before, wants)
			r.before = r.unhidden(c.before)
		}
		now := &audit.Report{Findings: []finding.Finding{slow, elsewhere}, Unconfirmed: []finding.Finding{c.after}}
		if also, broken := r.others(now); len(also) != 2 || len(broken) != c.broken {
			t.Errorf("%s: also %v, broken %v", name, also, broken)
		}
	}
}

// What was left out because it was not looked at is no success.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	for why, want := range map[string]bool{repair.NotPresent: false, repair.NotLooked: true, "shop/db-0 has 10.0.0.1 in its status or annotation": true} {
		r := &Run{Skipped: []repair.Refusal{{Finding: "PL3003/a", Why: repair.NotPresent}, {Finding: "PL3003/b", Why: why}}}
		if r.LeftOut() != want {
			t.Errorf("%s: %t", why, !want)
		}
	}
}
