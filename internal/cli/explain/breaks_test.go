package explain

import (
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// TestBreaks: what does not stop packets between two running pods is not called the break of their way, and does not hide it.
func TestBreaks(t *testing.T) {
	t.Parallel()
	node, pod := model.Ref{Kind: model.KindNode, Name: "w1"}, model.Ref{Kind: model.KindPod, Name: "shop/db-0"}
	far := hop{At: "w1 to w2", Says: "-", Broken: "the node has no route"}
	for _, c := range []struct {
		code     finding.Code
		severity finding.Severity
		state    finding.State
		subject  model.Ref
		alone    string // how the verdict begins without another break
		beside   string // and with one
	}{
		{finding.PL5006, finding.Error, finding.Confirmed, node, "no certain break found", "breaks at w1 to w2"},
		{finding.PL4007, finding.Error, finding.Confirmed, node, "no certain break found", "breaks at w1 to w2"},
		{finding.PL1009, finding.Error, finding.Confirmed, node, "no certain break found", "breaks at w1 to w2"},
		{finding.PL4008, finding.Error, finding.Confirmed, node, "no certain break found", "breaks at w1 to w2"},
		{finding.PL1002, finding.Error, finding.Unconfirmed, pod, "no certain break found", "breaks at w1 to w2"},
		{finding.PL9005, finding.Error, finding.Confirmed, node, "no certain break found", "breaks at w1 to w2"},
		{finding.PL3003, finding.Error, finding.Confirmed, pod, "breaks at shop/db-0", "breaks at shop/db-0"},
		{finding.PL3003, finding.Error, finding.Unconfirmed, pod, "may break at shop/db-0", "breaks at w1 to w2"},
		{finding.PL3008, finding.Error, finding.Confirmed, node, "breaks at node w1", "breaks at node w1"},
		{finding.PL3004, finding.Warning, finding.Confirmed, pod, "no certain break found", "breaks at w1 to w2"},
		{finding.PL9001, finding.Info, finding.Confirmed, node, "no break found", "breaks at w1 to w2"},
	} {
		r := &audit.Report{View: model.Seal(&model.Snapshot{}), Findings: []finding.Finding{{Code: c.code, Severity: c.severity, State: c.state, Subject: c.subject, Summary: "something"}}}
		e := end{ref: pod, node: node.Name, r: r}
		if got := wayVerdict(e.hops()); !strings.HasPrefix(got, c.alone) {
			t.Errorf("%s, %s: %q, want %q", c.code, c.state, got, c.alone)
		}
		if got := wayVerdict(append(e.hops(), far)); !strings.HasPrefix(got, c.beside) {
			t.Errorf("%s, %s, beside a break: %q, want %q", c.code, c.state, got, c.beside)
		}
	}
}
