package explain

import (
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

func TestWayVerdict(t *testing.T) {
	t.Parallel()
	for want, hops := range map[string][]hop{
		"no break found": {{At: "a"}, {At: "b"}},
		"no certain break found; warning at b: why": {{At: "a"}, {At: "b", Warning: "why"}, {At: "c", Warning: "later"}},
		"breaks at c: so":  {{At: "a", Warning: "why"}, {At: "c", Broken: "so"}},
		"breaks at b: why": {{At: "a", Unread: "node state"}, {At: "b", Broken: "why"}, {At: "c", Broken: "later"}},
		"no break found in what was checked; 1 of 2 steps were not, or not completely":                            {{At: "a"}, {At: "b", Unread: "firewall rules"}},
		"no certain break found in what was checked; 1 of 2 steps were not, or not completely; warning at b: why": {{At: "a"}, {At: "b", Unread: "firewall rules", Warning: "why"}},
	} {
		if got := wayVerdict(hops); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTell(t *testing.T) {
	t.Parallel()
	var h hop
	for _, f := range []finding.Finding{
		{Code: finding.PL9001, Severity: finding.Info, Summary: "not read"},
		{Code: finding.PL3004, Severity: finding.Warning, Summary: "left over", State: finding.Confirmed},
		{Code: finding.PL3003, Severity: finding.Error, Summary: "no route", State: finding.Unconfirmed},
		{Code: finding.PL3002, Severity: finding.Error, Summary: "later"},
		{Code: finding.PL2003, Severity: finding.Warning, Summary: "later"},
	} {
		h.tell(&f)
	}
	if !strings.HasPrefix(h.Warning, "left over [PL3004") || !strings.HasPrefix(h.Maybe, "no route [PL3003") || h.Broken != "" {
		t.Errorf("got %+v", h)
	}
}

// A break that is shown under a warning is one.
func TestHopsOfFolded(t *testing.T) {
	t.Parallel()
	node := model.Ref{Kind: model.KindNode, Name: "w1"}
	r := &audit.Report{
		View:     model.Seal(&model.Snapshot{}),
		Findings: []finding.Finding{{Code: finding.PL4008, Severity: finding.Warning, Subject: node, Summary: "Felix is not ready"}},
		Folded:   []finding.Finding{{Code: finding.PL3003, Severity: finding.Error, State: finding.Confirmed, Subject: model.Ref{Kind: model.KindPod, Name: "shop/db-0"}, Summary: "no route"}},
	}
	e := end{ref: r.Folded[0].Subject, node: node.Name, r: r}
	if h := e.hops(); !strings.HasPrefix(h[0].Broken, "no route") || !strings.HasPrefix(h[1].Warning, "Felix") || h[1].Broken != "" {
		t.Errorf("got %+v", h)
	}
}
