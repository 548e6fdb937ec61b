package objects

import (
	"strings"
	"testing"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// hides is a report in which findings are suppressed.
func hides(at model.Time, fs ...finding.Finding) *audit.Report {
	r := report(at)
	r.Suppressed = fs
	r.Suppressing = []audit.Suppression{{Code: finding.PL3003, Subject: "shop/*", Expires: noon + 86400}, {Code: finding.PL1001, Subject: "*", Expires: noon + 86400}}
	return r
}

func silent(r *audit.Report, nodes ...string) *audit.Report {
	r.Skipped = []detect.Skip{{Code: finding.PL3003, Why: "agent silent", Nodes: nodes}}
	return r
}

func unconfirmed(f finding.Finding) finding.Finding {
	f.State = finding.Unconfirmed
	return f
}

// TestSuppressedSettlesAnew: a suppressed finding that is to be confirmed anew is not gone.
func TestSuppressedSettlesAnew(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]*audit.Report{"suppressed": hides(noon, leaked("10.0.0.1")), "confirmed": report(noon, leaked("10.0.0.1"))} {
		b := board()
		b.Take(first)
		b.Take(hides(noon+20, unconfirmed(leaked("10.0.0.1"))))
		if s := b.Objects()[0].Status; s.State != v1alpha1.StateSuppressed || s.Suppressed != 1 || s.Count != 0 {
			t.Errorf("%s before: %+v", name, s)
		}
	}
}

// TestNextLeaderAndMixedGroup: the suppressed part of a group is not forgotten.
func TestNextLeaderAndMixedGroup(t *testing.T) {
	t.Parallel()
	a := board()
	r := hides(noon, inNS("node2", "b"))
	r.Findings = []finding.Finding{inNS("node1", "a")}
	a.Take(r)
	b := board()
	b.Adopt(a.Objects())
	b.Take(silent(hides(noon+20), "node2"))
	if s := b.Objects()[0].Status; s.State != v1alpha1.StateSuppressed || s.Suppressed != 1 {
		t.Errorf("%+v", s)
	}
}

// TestSuppressedOnSilentNode: what is suppressed and was not read for long does not say that it was.
func TestSuppressedOnSilentNode(t *testing.T) {
	t.Parallel()
	b := board()
	b.Take(hides(noon, inNS("node1", "a")))
	b.Take(silent(hides(noon+3600), "node1"))
	s := b.Objects()[0].Status
	if s.State != v1alpha1.StateSuppressed || model.At(s.LastSeen.Time) != noon {
		t.Errorf("%+v", s)
	}
	for _, c := range s.Conditions {
		if c.Type == "Checked" && (c.Status == "True" || c.Message != "agent silent") {
			t.Errorf("%+v", c)
		}
	}
}

// TestSuppressionDeleted: what nothing hides any more is shown, also if it is folded or not read.
func TestSuppressionDeleted(t *testing.T) {
	t.Parallel()
	folded := report(noon + 3600)
	folded.Folded = []finding.Finding{inNS("node1", "a")}
	for name, c := range map[string]struct {
		r     *audit.Report
		state string
	}{
		"folded": {folded, v1alpha1.StateConfirmed}, "silent": {silent(report(noon+3600), "node1"), v1alpha1.StateNotChecked},
	} {
		b := board()
		b.Take(hides(noon, inNS("node1", "a")))
		b.Take(c.r)
		if s := b.Objects()[0].Status; s.State != c.state || s.Count != 1 || s.Suppressed != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestRefusedSaysWhy: also of a long subject.
func TestRefusedSaysWhy(t *testing.T) {
	t.Parallel()
	one := v1alpha1.Suppression{Spec: v1alpha1.SuppressionSpec{Code: "PL1001", Subject: strings.Repeat("x", 500), Reason: "r", Owner: "o", Expires: timeOf(noon + 500*86400)}}
	if _, answer := Accepted([]v1alpha1.Suppression{one}, noon); !strings.Contains(answer[0].Status.Message, "year") {
		t.Errorf("%+v", answer[0].Status)
	}
	many := make([]v1alpha1.Suppression, v1alpha1.MaxSuppressions+1)
	for i := range many {
		many[i] = one
		many[i].Spec.Expires = timeOf(noon + 60)
	}
	hold, answer := Accepted(many, noon)
	if last := answer[len(answer)-1].Status; len(hold) != v1alpha1.MaxSuppressions || last.State != v1alpha1.SuppressionRefused {
		t.Errorf("%d hold, the last is %+v", len(hold), last)
	}
}

// TestExpiredIsShown: the object of an expired suppression names a command that shows it; it is not resolved where suppressions were not read.
func TestExpiredIsShown(t *testing.T) {
	t.Parallel()
	f := finding.Finding{Code: finding.PL9004, Severity: finding.Info, Subject: model.Ref{Kind: model.KindCluster, Name: "PL1001/x"}, State: finding.Confirmed}
	a := board()
	a.Take(report(noon, f))
	if show := a.Objects()[0].Status.Show; show != "kubectl get suppressions" {
		t.Error(show)
	}
	b := board()
	b.Adopt(a.Objects())
	r := report(noon + 20)
	r.Skipped = []detect.Skip{{Code: finding.PL9004, Why: "suppressions were not read"}}
	b.Take(r)
	if s := b.Objects()[0].Status.State; s == v1alpha1.StateResolved {
		t.Error(s)
	}
}
