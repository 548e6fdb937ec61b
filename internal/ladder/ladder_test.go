package ladder_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/ladder"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

var update = flag.Bool("update", false, "rewrite the ladders")

// worlds are the small clusters that detectors are tested by.
func worlds(t *testing.T) map[string]*audit.Report {
	t.Helper()
	files, err := filepath.Glob("../detect/testdata/*.txtar")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d worlds: %v", len(files), err)
	}
	out := map[string]*audit.Report{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		c, err := snapshotio.ParseText(text, "findings", "skipped")
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".txtar")] = audit.Judge(t.Context(), c.Snapshot, audit.Source{}, audit.Options{Detectors: detect.All})
	}
	return out
}

// text is a ladder as lines, one for each rung.
func text(l *ladder.Ladder) string {
	var b strings.Builder
	b.WriteString(l.Pod.Namespace + "/" + l.Pod.Name + ": " + l.Verdict() + "\n")
	for i := range l.Rungs {
		r := &l.Rungs[i]
		b.WriteString("  " + r.Part + " " + string(r.State()))
		for j, c := range r.Cells {
			if c.Says != "" {
				b.WriteString(" | " + ladder.Sources[j] + ": " + c.Says + " (" + string(c.Mark) + ")")
			}
		}
		for _, f := range r.Findings {
			b.WriteString(" <- " + f.Key())
		}
		b.WriteString("\n")
	}
	for _, f := range l.Node {
		b.WriteString("  node <- " + f.Key() + "\n")
	}
	return b.String()
}

// The ladders of pods in the worlds of some codes, as a person would compare them.
func TestLadders(t *testing.T) {
	t.Parallel()
	all := worlds(t)
	for _, name := range []string{"PL1002", "PL1003", "PL1006", "PL2001", "PL2001-etcd", "PL2003", "PL2004", "PL2010", "PL3002", "PL3003", "PL3004", "PL3006"} {
		r := all[name]
		var got strings.Builder
		for i := range r.View.Rows(model.Pods) {
			got.WriteString(text(ladder.Of(r, r.View.Pod(int32(i)), ladder.Viewer{})))
		}
		file := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || got.String() != string(want) {
			t.Errorf("%s: %v\ngot:\n%s", name, err, got.String())
		}
	}
}

// Every finding about a pod is at one of its rungs, and a pod that is called consistent has none but of its node, and
// no cell that was not read.
func TestEveryFindingHasARung(t *testing.T) {
	t.Parallel()
	placed, consistent := 0, 0
	for name, r := range worlds(t) {
		v := r.View
		fs := slices.Concat(r.Findings, r.Unconfirmed, r.Folded)
		for i := range v.Rows(model.Pods) {
			l := ladder.Of(r, v.Pod(int32(i)), ladder.Viewer{})
			at := map[string]bool{}
			for k := range l.Rungs {
				for _, f := range l.Rungs[k].Findings {
					at[f.Key()] = true
					placed++
				}
			}
			for k := range fs {
				if fs[k].Subject == l.Pod.Ref() && len(l.Rungs) > 0 && !at[fs[k].Key()] {
					t.Errorf("%s: %s is at no rung of %s/%s", name, fs[k].Key(), l.Pod.Namespace, l.Pod.Name)
				}
			}
			if l.Verdict() == "consistent in all three sources" {
				consistent++
				for k := range fs {
					if fs[k].Severity != finding.Info && slices.Contains(fs[k].About, l.Pod.Ref()) {
						t.Errorf("%s: %s/%s is called consistent, although %s", name, l.Pod.Namespace, l.Pod.Name, fs[k].Key())
					}
				}
				if !v.Sees(l.Pod.Node, model.Sandboxes, model.Attachments, model.Links, model.Paths, model.Neighbours) {
					t.Errorf("%s: %s/%s is called consistent, and its node was not read", name, l.Pod.Namespace, l.Pod.Name)
				}
			}
		}
	}
	if placed < 40 || consistent < 10 {
		t.Errorf("%d findings placed, %d pods consistent", placed, consistent)
	}
}

// Without blocks, or where Calico only has policies, nothing of them is called consistent or wrong.
func TestUnreadAndElsewhere(t *testing.T) {
	t.Parallel()
	world := func(edit func(*model.Snapshot)) *audit.Report {
		text, err := os.ReadFile("../detect/testdata/PL3003.txtar")
		if err != nil {
			t.Fatal(err)
		}
		c, err := snapshotio.ParseText(text, "findings", "skipped")
		if err != nil {
			t.Fatal(err)
		}
		edit(c.Snapshot)
		return audit.Judge(t.Context(), c.Snapshot, audit.Source{}, audit.Options{Detectors: detect.All})
	}
	lost := world(func(s *model.Snapshot) {
		s.Blocks = nil
		for i := range s.Coverage {
			if s.Coverage[i].Table == model.Blocks {
				s.Coverage[i].State = model.Lost
			}
		}
	})
	for i := range lost.View.Rows(model.Pods) {
		if l := ladder.Of(lost, lost.View.Pod(int32(i)), ladder.Viewer{}); strings.Contains(l.Verdict(), "consistent") {
			t.Errorf("blocks were not read: %s", text(l))
		}
	}
	other := world(func(s *model.Snapshot) {
		s.Info[0].Networking, s.Info[0].IPAM = "other", "other"
		s.Blocks = nil
		for i := range s.Pods {
			s.Pods[i].Annotation, s.Pods[i].Annotated = model.Absent, nil
		}
		for _, n := range s.NodeState {
			n.CNIConfigs = nil
		}
	})
	for i := range other.View.Rows(model.Pods) {
		for _, r := range ladder.Of(other, other.View.Pod(int32(i)), ladder.Viewer{}).Rungs {
			if s := r.State(); s == ladder.Missing || s == ladder.Differs {
				t.Errorf("Calico only has policies: %s is %s", r.Part, s)
			}
		}
	}
}

// A finding that is suppressed, or that who looks may not see, is a fault all the same; and a handle that they may not
// see is not called missing.
func TestWithheld(t *testing.T) {
	t.Parallel()
	r := worlds(t)["PL2010"]
	all := slices.Concat(r.Findings, r.Unconfirmed, r.Folded)
	of := func(r *audit.Report, who ladder.Viewer) string {
		return text(ladder.Of(r, r.View.PodByName("shop", "second"), who))
	}
	suppressed := *r
	suppressed.Findings, suppressed.Unconfirmed, suppressed.Folded, suppressed.Suppressed = nil, nil, nil, all
	unseen := ladder.Viewer{Sees: func(*finding.Finding) bool { return false }, May: func(string) bool { return false }}
	for want, got := range map[string]string{
		"1 suppressed finding; 1 part missing":           of(&suppressed, ladder.Viewer{}),
		"1 finding that you may not see; 1 part missing": of(r, unseen),
		"1 finding that you may not see; 1 part":         of(&suppressed, unseen),
		"Calico: not shown to you (unread)":              of(r, unseen),
	} {
		if !strings.Contains(got, want) || strings.Contains(got, "no code") || strings.Contains(got, "<-") {
			t.Errorf("want %q:\n%s", want, got)
		}
	}
}

// A drawing is well-formed, and what strangers wrote in it is text.
func TestDrawing(t *testing.T) {
	t.Parallel()
	const hostile = "</text><script>alert(1)</script>\x1b[31m\u202e\"'&"
	for name, r := range worlds(t) {
		v := r.View
		for i := range v.Rows(model.Pods) {
			pod := *v.Pod(int32(i))
			pod.Name += hostile
			pod.Node += strings.Repeat("n", 253)
			l := ladder.Of(r, &pod, ladder.Viewer{})
			l.Pod = &pod
			for k := range l.Rungs {
				l.Rungs[k].Cells[1].Says += hostile
				l.Rungs[k].Findings = append(l.Rungs[k].Findings, &finding.Finding{Code: finding.PL2001, Summary: hostile + strings.Repeat("x", 500)})
			}
			var b bytes.Buffer
			if err := l.SVG(&b); err != nil {
				t.Fatal(err)
			}
			wellFormed(t, name, b.Bytes())
			in, err := l.Inline(func(*finding.Finding) string { return "javascript:alert(1)" })
			if err != nil {
				t.Fatal(err)
			}
			for _, bad := range []string{"<script", "\x1b", "\u202e", "javascript:alert"} {
				if strings.Contains(string(in), bad) || bytes.Contains(b.Bytes(), []byte(bad)) {
					t.Fatalf("%s: %q is in the drawing", name, bad)
				}
			}
		}
	}
}

// What a drawing leaves out is counted.
func TestDrawingCounts(t *testing.T) {
	t.Parallel()
	r := worlds(t)["PL2010"]
	l := ladder.Of(r, r.View.Pod(0), ladder.Viewer{})
	for range 5 {
		l.Node = append(l.Node, &finding.Finding{Code: finding.PL5003})
	}
	var b bytes.Buffer
	if err := l.SVG(&b); err != nil || !strings.Contains(b.String(), "Node: and 2 findings more") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func wellFormed(t *testing.T, name string, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
	}
}
