package cluster

import (
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
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
	now := &audit.Report{Findings: []finding.Finding{slow, elsewhere}, Unconfirmed: []finding.Finding{route}}
	wants := map[string]bool{shared.Key(): true}
	for name, c := range map[string]struct {
		at     *audit.Report   // when the run begins
		before map[string]bool // its findings
		broken int
	}{
		"hidden before":   {&audit.Report{Findings: []finding.Finding{shared}}, map[string]bool{shared.Key(): true}, 1},
		"there before":    {&audit.Report{Findings: []finding.Finding{shared, route}}, map[string]bool{route.Key(): true}, 0},
		"resumed, hidden": {&audit.Report{}, nil, 1},
	} {
		r := &Run{wants: wants, about: podsIn(c.at, wants), before: c.before}
		if also, broken := r.others(now); len(also) != 2 || len(broken) != c.broken {
			t.Errorf("%s: also %v, broken %v", name, also, broken)
		}
	}
}
