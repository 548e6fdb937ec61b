package check

import (
	"bytes"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

func ofController(t *testing.T) *cluster.Told {
	t.Helper()
	f := func(c finding.Code, node string, explains ...string) finding.Finding {
		return finding.Finding{Code: c, Severity: finding.Error, Subject: model.Ref{Kind: model.KindNode, Name: node}, Node: node, State: finding.Confirmed, Explains: explains}
	}
	s := &model.Snapshot{Nodes: []model.Node{{Name: "n1"}, {Name: "n2"}, {Name: "n3"}}, Pods: []model.Pod{{Namespace: "shop", Name: "p"}}}
	for _, table := range audit.Sources {
		s.Coverage = append(s.Coverage, model.Coverage{Table: table, State: model.Complete})
	}
	s.Coverage = append(s.Coverage, model.Coverage{Table: model.Links, Node: "n1", State: model.Complete})
	r := &audit.Report{View: model.Seal(s), Findings: []finding.Finding{f(finding.PL4005, "n1", "PL4009/n1", "PL4009/n2")}, Folded: []finding.Finding{f(finding.PL4009, "n1"), f(finding.PL4009, "n2")}}
	var b bytes.Buffer
	if err := cluster.RowsOf(r, nil).Write(&b, 0); err != nil {
		t.Fatal(err)
	}
	told, err := cluster.ReadRows(&b)
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// TestFromControllerInPart: what is shown under another finding is shown by itself where that one is not wanted.
func TestFromControllerInPart(t *testing.T) {
	t.Parallel()
	on := func(node string) func(*finding.Finding) bool {
		return func(f *finding.Finding) bool { return f.Node == node }
	}
	for name, c := range map[string]struct {
		codes []string
		keep  func(*finding.Finding) bool
		want  int
		fails bool
	}{
		"all":           {want: 1, fails: true},
		"of a code":     {codes: []string{"pl4009"}, want: 2, fails: true},
		"of a node":     {keep: on("n2"), want: 1, fails: true},
		"nothing there": {keep: on("n3")},
	} {
		told := ofController(t)
		only(told.Report, c.codes, c.keep)
		if err := verdict(told.Report, flags{failOn: "warning"}); len(told.Findings) != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %d findings, want %d; %v", name, len(told.Findings), c.want, err)
		}
	}
}

// TestFromControllerUnknownNames: a typo does not look healthy.
func TestFromControllerUnknownNames(t *testing.T) {
	t.Parallel()
	told := ofController(t)
	told.Findings = nil
	for name, c := range map[string]struct {
		flags
		refused bool
	}{
		"all": {}, "namespace": {flags: flags{namespace: "shop"}}, "node": {flags: flags{node: "n3"}},
		"no namespace": {flags: flags{namespace: "shpo"}, refused: true}, "no node": {flags: flags{node: "n4"}, refused: true},
	} {
		if err := unknownTo(told, c.flags); (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
