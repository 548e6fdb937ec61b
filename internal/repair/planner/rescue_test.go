package planner

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
	"plumbline.dev/plumbline/internal/snapshotio"
)

var rewriteRescue = flag.Bool("update-rescue", false, "rewrite what the rescue fixtures expect")

// A rescueCase is a world, edits of it, which findings are planned, and the plan.
//
// An edit is FILE ROW CHANGE: the row is named by one of its fields (name=web), and the
// change is merged into it; "-" removes it; "+" in the place of the row adds one.
type rescueCase struct {
	path               string
	archive            *txtar.Archive
	world, edits, asks string
	want               string
}

func rescueCases(t *testing.T) []rescueCase {
	t.Helper()
	files, err := filepath.Glob("testdata/rescue/PL*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	var out []rescueCase
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c := rescueCase{path: path, archive: txtar.Parse(text)}
		for _, f := range c.archive.Files {
			into := map[string]*string{"world": &c.world, "edits": &c.edits, "asks": &c.asks, "plan": &c.want}[f.Name]
			if into == nil {
				t.Fatalf("%s: what is %s?", path, f.Name)
			}
			*into = string(f.Data)
		}
		out = append(out, c)
	}
	return out
}

// view builds the world of a case.
func (c *rescueCase) view(t *testing.T) *model.View { return c.build(t, true) }

// lenient builds it too, and leaves edits out that fit no row.
func (c *rescueCase) lenient(t *testing.T) *model.View { return c.build(t, false) }

func (c *rescueCase) build(t *testing.T, strict bool) *model.View {
	t.Helper()
	text, err := os.ReadFile("testdata/rescue/world-" + strings.TrimSpace(c.world) + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	ar := txtar.Parse(text)
	for line := range strings.Lines(c.edits) {
		if strings.TrimSpace(line) != "" {
			if !editWorld(t, ar, strings.TrimSpace(line)) && strict {
				t.Fatalf("%s: %q fits no row", c.path, line)
			}
		}
	}
	got, err := snapshotio.ParseText(txtar.Format(ar))
	if err != nil {
		t.Fatalf("%s: %v", c.path, err)
	}
	return model.Seal(got.Snapshot)
}

func editWorld(t *testing.T, ar *txtar.Archive, line string) bool {
	t.Helper()
	file, rest, _ := strings.Cut(line, " ")
	row, change, _ := strings.Cut(rest, " ")
	i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == file })
	if i < 0 {
		return false
	}
	f := &ar.Files[i]
	switch row {
	case "+":
		f.Data = append(slices.Clip(f.Data), change+"\n"...)
		return true
	case "unseen":
		ar.Files = slices.Delete(ar.Files, i, i+1)
		return true
	}
	field, value, _ := strings.Cut(row, "=")
	var out bytes.Buffer
	hit := false
	for text := range strings.Lines(string(f.Data)) {
		var have map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &have); err != nil {
			t.Fatal(err)
		}
		if string(have[field]) != value && string(have[field]) != `"`+value+`"` {
			out.WriteString(text)
			continue
		}
		hit = true
		if change == "-" {
			continue
		}
		var with map[string]json.RawMessage
		if err := json.Unmarshal([]byte(change), &with); err != nil {
			t.Fatalf("edit %q: %v", line, err)
		}
		maps.Copy(have, with)
		b, err := json.Marshal(have)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(b, '\n'))
	}
	f.Data = out.Bytes()
	return hit
}

// findings gives those that are asked for, as the detectors report them; one that they do
// not report is made up where the line begins with "force".
func (c *rescueCase) findings(t *testing.T, v *model.View) []finding.Finding {
	t.Helper()
	all := detect.Run(v, detect.All...).Findings
	var out []finding.Finding
	for line := range strings.Lines(c.asks) {
		key, forced := strings.CutPrefix(strings.TrimSpace(line), "force ")
		if key == "" {
			continue
		}
		i := slices.IndexFunc(all, func(f finding.Finding) bool { return f.Key() == key })
		switch {
		case i >= 0 && !forced:
			out = append(out, all[i])
		case i < 0 && forced:
			code, subject, _ := strings.Cut(key, "/")
			f := finding.Finding{Code: finding.Code(code), Subject: model.Ref{Kind: model.KindAddress, Name: subject}}
			if strings.HasPrefix(code, "PL2") && code != "PL2010" {
				f.Subject.Kind = model.KindPod
			}
			if code == "PL2002" {
				f.Subject.Kind = model.KindEndpoint
			}
			out = append(out, f)
		default:
			var keys []string
			for j := range all {
				keys = append(keys, all[j].Key())
			}
			t.Fatalf("%s: %s forced=%v, but the detectors say %v", c.path, key, forced, keys)
		}
		out[len(out)-1].State = finding.Confirmed
	}
	return out
}

func (c *rescueCase) plan(t *testing.T) (*repair.Plan, *model.View) {
	t.Helper()
	v := c.view(t)
	return Make(v, c.findings(t, v), rescueOptions()), v
}

func rescueOptions() Options {
	var made model.Time
	if err := made.UnmarshalText([]byte("2026-01-01T10:00:05Z")); err != nil {
		panic(err)
	}
	return Options{
		ID: "7f3a", Made: made, IPAM: "calico",
		PodJSON: func(ns, name string) (json.RawMessage, error) {
			if name == "api" {
				return nil, errors.New("it went away")
			}
			node := map[bool]string{true: "n2", false: "n1"}[name == "db-0"]
			return json.RawMessage(fmt.Sprintf(`{"metadata":{"name":%q,"namespace":%q,"uid":"uid-%s","generateName":"%s-","labels":{"app":%q}},
				"spec":{"nodeName":%q,"serviceAccountName":"default","containers":[{"ports":[{"name":"http","containerPort":8080}]}]}}`, name, ns, name, name, name, node)), nil
		},
		EndpointJSON: func(ns, name string) (json.RawMessage, error) {
			parts := strings.Split(name, "-k8s-")
			pod := strings.ReplaceAll(strings.TrimSuffix(parts[1], "-eth0"), "--", "-")
			return json.RawMessage(fmt.Sprintf(`{"kind":"WorkloadEndpoint","apiVersion":"projectcalico.org/v3","metadata":{"name":%q,"namespace":%q,
				"labels":{"projectcalico.org/namespace":%q,"projectcalico.org/orchestrator":"k8s","projectcalico.org/serviceaccount":"default"}},
				"spec":{"orchestrator":"k8s","node":%q,"pod":%q,"endpoint":"eth0","serviceAccountName":"default","profiles":["kns.%s","ksa.%s.default"],"interfaceName":"cali%s"}}`,
				name, ns, ns, parts[0], pod, ns, ns, model.DeviceName("", ns, pod))), nil
		},
	}
}

// planText is a plan for people to read in a fixture.
func planText(t *testing.T, p *repair.Plan) string {
	t.Helper()
	var out strings.Builder
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for i := range p.Targets {
		g := &p.Targets[i]
		fmt.Fprintf(&out, "target %s %s watch=%d\n", g.Finding, g.Risk, g.Watch)
		fmt.Fprintf(&out, "  proof %s\n", text(g.Proof))
		for _, w := range g.Warnings {
			fmt.Fprintf(&out, "  warns %s\n", w)
		}
		for _, w := range g.Touches {
			fmt.Fprintf(&out, "  touches %s\n", w)
		}
		if g.NoUndo != "" {
			fmt.Fprintf(&out, "  no undo: %s\n", g.NoUndo)
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		always := ""
		if s.Always {
			always = " always"
		}
		fmt.Fprintf(&out, "step %d %s %s%s for %s\n  %s\n", s.ID, s.Do, s.On, always, strings.Join(s.For, " "), text(map[string]change.Change{s.Change.Key(): s.Change}))
	}
	for _, r := range p.Refused {
		fmt.Fprintf(&out, "refused %s: %s (%s)\n", r.Finding, r.Why, r.Advice)
	}
	return out.String()
}

func TestRescueFixtures(t *testing.T) {
	t.Parallel()
	for _, c := range rescueCases(t) {
		t.Run(strings.TrimSuffix(filepath.Base(c.path), ".txtar"), func(t *testing.T) {
			p, _ := c.plan(t)
			got := planText(t, p)
			if *rewriteRescue {
				i := slices.IndexFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == "plan" })
				if i < 0 {
					c.archive.Files = append(c.archive.Files, txtar.File{Name: "plan"})
					i = len(c.archive.Files) - 1
				}
				c.archive.Files[i].Data = []byte(got)
				if err := os.WriteFile(c.path, txtar.Format(c.archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != c.want {
				t.Errorf("%s\ngot:\n%s\nwant:\n%s", c.archive.Comment, got, c.want)
			}
		})
	}
}
