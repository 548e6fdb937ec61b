package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/capacity"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

func judgement(n int) *audit.Report {
	s := &model.Snapshot{Meta: model.Meta{Schema: model.Schema, GUID: "g"}, Pods: []model.Pod{{Namespace: "a", Name: "p", Node: "n1"}}, Nodes: []model.Node{{Name: "n1"}}}
	for _, t := range audit.Sources {
		s.Coverage = append(s.Coverage, model.Coverage{Table: t, State: model.Complete})
	}
	s.Coverage = append(s.Coverage, model.Coverage{Table: model.Links, Node: "n1", State: model.Lost, Reason: "silent"})
	r := &audit.Report{
		View: model.Seal(s), Taken: 1_800_000_000, Skipped: []detect.Skip{{Code: finding.PL2001, Why: "not read", Nodes: []string{"n1"}}},
		Gaps: []model.Coverage{{Table: model.Links, Node: "n1", State: model.Lost, Reason: "silent"}}, MassChanges: []string{"many"},
	}
	for i := range n {
		f := finding.Finding{
			Code: finding.PL1001, Severity: finding.Warning, Subject: model.Ref{Kind: model.KindAddress, Name: fmt.Sprintf("10.0.%d.%d", i/256, i%256)}, Summary: "leaked",
			State: finding.Confirmed, Since: 1_700_000_000, Namespace: "a", About: []model.Ref{{Kind: model.KindPod, Name: "b/p"}},
		}
		r.Findings = append(r.Findings, f)
		f.State, f.Why, f.RecheckAfter = finding.Unconfirmed, "soon", 1_800_000_060
		r.Unconfirmed = append(r.Unconfirmed, f)
		r.Suppressed = append(r.Suppressed, f)
	}
	if n > 0 {
		f := r.Findings[0]
		f.Code = finding.PL2001
		r.Folded = append(r.Folded, f)
		r.Findings[0].Explains = []string{f.Key()}
	}
	return r
}

func written(t testing.TB, r *audit.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := RowsOf(r, []capacity.Forecast{{Pool: "p", PerDay: 2, EmptySeconds: 3}}).Write(&b, 3*time.Second); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRows: what is read is what was written, as a document and for the exit code.
func TestRows(t *testing.T) {
	t.Parallel()
	r := judgement(3)
	told, err := ReadRows(strings.NewReader(written(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	got, err1 := json.Marshal(ReportOf(told.Report))
	want, err2 := json.Marshal(ReportOf(r))
	if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
		t.Errorf("got %s\nwant %s (%v, %v)", got, want, err1, err2)
	}
	if told.Checked != (Checked{Pods: 1, Nodes: 1}) || told.Age != 3*time.Second || !told.View.Agents() {
		t.Errorf("%+v", told)
	}
	if len(told.Folded) != 1 || told.Names.Namespaces[0] != "a" || told.Names.Nodes[0] != "n1" {
		t.Errorf("folded %+v, names %+v", told.Folded, told.Names)
	}
	if len(told.Pools) != 1 || told.Pools[0].PerDay != 2 {
		t.Errorf("pools %+v", told.Pools)
	}
	head, _, err := readHead(json.NewDecoder(strings.NewReader(written(t, r))))
	if err != nil || !slices.Equal(head.Pools, told.Pools) || head.Age != told.Age || len(head.Findings) != 0 {
		t.Errorf("the head alone: %+v %v", head, err)
	}
	for _, source := range [][]string{{"kubernetes"}, {"calico"}, {"node"}} {
		if told.Unread(source) != r.Unread(source) {
			t.Errorf("%s: unread %t", source, told.Unread(source))
		}
	}
}

// TestRowsOfAnOlderController: what it does not know was not checked.
func TestRowsOfAnOlderController(t *testing.T) {
	t.Parallel()
	told, err := ReadRows(strings.NewReader(strings.Replace(written(t, judgement(0)), `"PL4009",`, "", 1)))
	if err != nil || !slices.ContainsFunc(told.Skipped, func(s detect.Skip) bool { return s.Code == finding.PL4009 }) {
		t.Errorf("%+v, %v", told, err)
	}
}

// TestRowsIncomplete: lines that are missing are an error, never a cluster with fewer findings.
func TestRowsIncomplete(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(strings.TrimSuffix(written(t, judgement(3)), "\n"), "\n")
	for n := range lines {
		if _, err := ReadRows(strings.NewReader(strings.Join(lines[:n], ""))); err == nil {
			t.Errorf("%d of %d lines pass", n, len(lines))
		}
	}
	all := strings.Join(lines, "")
	for n := 0; n < len(all); n += 7 {
		if _, err := ReadRows(strings.NewReader(all[:n])); err == nil {
			t.Errorf("%d of %d bytes pass", n, len(all))
		}
	}
	for name, text := range map[string]string{
		"one line more":   all + "\n" + lines[1],
		"another kind":    strings.Replace(all, "CheckRows", "Plan", 1),
		"another version": strings.Replace(all, APIVersion, "plumbline.dev/v9", 1),
		"many rows":       strings.Replace(all, `"counts":[3,3,3,1]`, `"counts":[3000000000,3,3,1]`, 1),
		"no count":        strings.Replace(all, `"counts":[3,3,3,1],`, "", 1),
		"nothing":         `{"apiVersion":"` + APIVersion + `","kind":"CheckRows"}`,
		"findings inside": strings.Replace(all, `"findings":[]`, `"findings":[{"name":"PL1001/10.0.0.1"}]`, 1),
		"fewer than none": strings.Replace(all, `"counts":[3,3,3,1]`, `"counts":[-1,3,3,1]`, 1),
	} {
		if text == all {
			t.Fatalf("%s: nothing was replaced", name)
		}
		if _, err := ReadRows(strings.NewReader(text)); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func FuzzReadRows(f *testing.F) {
	f.Add(written(f, judgement(1)))
	f.Fuzz(func(_ *testing.T, text string) {
		if told, err := ReadRows(strings.NewReader(text)); err == nil {
			_ = ReportOf(told.Report)
			_ = told.Unread([]string{"node", "calico"})
		}
	})
}
