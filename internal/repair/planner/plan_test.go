package planner_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
	"plumbline.dev/plumbline/internal/repair/planner"
	"plumbline.dev/plumbline/internal/repair/proven"
	"plumbline.dev/plumbline/internal/snapshotio"
)

var update = flag.Bool("update", false, "rewrite what the fixtures expect")

// given is what a fixture says besides the snapshot.
type given struct {
	Unconfirmed     []string          `json:"suspected"` // keys of findings that are not confirmed; with a minus those that were not asked for, with a plus those that nobody has
	Silent          []string          `json:"silent"`    // nodes without an agent
	NoAgents        bool              `json:"noAgents"`
	NodeGone        []string          `json:"nodeGone"`
	Only            []finding.Code    `json:"only"` // findings that are planned
	IPAM            string            `json:"ipam"`
	Masses          []string          `json:"masses"`
	AllowMassChange bool              `json:"mass"`
	Rebuild         bool              `json:"rebuild"`
	Blocks          []netip.Prefix    `json:"blocks"`
	Rename          map[string]string `json:"rename"` // what nodes call themselves

	Plugin        string         `json:"-"` // version of the CNI plugin of all nodes
	AcceptVersion string         `json:"-"`
	Schemas       proven.Schemas `json:"-"`
}

// TestPlans holds a plan for every snapshot below testdata against what is expected of it.
// The findings are those that the detectors have, the nodes answer as testdata says.
func TestPlans(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/plan-*.txtar")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			c, g := load(t, path)
			v, fs := judged(c.Snapshot, g)
			p := planner.Make(v, fs, options(g))
			if err := p.Valid(); err != nil {
				t.Error(err)
			}
			got := text(p)
			if *update {
				rewrite(t, path, got)
				return
			}
			if want := c.Expect["plan"]; got != want {
				t.Errorf("%s\ngot:\n%s\nwant:\n%s", c.Comment, got, want)
			}
		})
	}
}

func options(g given) planner.Options {
	o := planner.Options{
		ID: "p1", Made: taken(), IPAM: "calico", NodeGone: g.NodeGone, MassChanges: g.Masses, AllowMassChange: g.AllowMassChange, AcceptVersion: g.AcceptVersion, Schemas: g.Schemas,
		Rebuild: g.Rebuild, Blocks: g.Blocks,
	}
	if g.IPAM != "" {
		o.IPAM = g.IPAM
	}
	return o
}

func taken() model.Time {
	var at model.Time
	if err := at.UnmarshalText([]byte("2026-01-02T10:00:00Z")); err != nil {
		panic(err)
	}
	return at
}

func load(t *testing.T, path string) (*snapshotio.Case, given) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := snapshotio.ParseText(raw, "given", "plan")
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var g given
	if err := json.Unmarshal([]byte(c.Expect["given"]), &g); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return c, g
}

// judged gives the view and its findings, all of them confirmed but for those that the
// fixture says are not.
func judged(s *model.Snapshot, g given) (*model.View, []finding.Finding) {
	answer(s, g)
	v := model.Seal(s)
	fs := detect.Run(v, detect.All...).Findings
	fs = slices.DeleteFunc(fs, func(f finding.Finding) bool {
		return f.Code == "PL9001" || len(g.Only) > 0 && !slices.Contains(g.Only, f.Code) || slices.Contains(g.Unconfirmed, "-"+f.Key())
	})
	for _, key := range g.Unconfirmed {
		if key, ok := strings.CutPrefix(key, "+"); ok {
			code, subject, _ := strings.Cut(key, "/")
			fs = append(fs, finding.Finding{Code: finding.Code(code), Subject: model.Ref{Kind: model.KindAddress, Name: subject}})
		}
	}
	for i := range fs {
		fs[i].State = finding.Confirmed
		if slices.Contains(g.Unconfirmed, fs[i].Key()) {
			fs[i].State, fs[i].Why, fs[i].RecheckAfter = finding.Unconfirmed, "may still settle by itself", taken()
		}
	}
	return v, fs
}

func rewrite(t *testing.T, path, got string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(raw), "-- plan --\n")
	if err := os.WriteFile(path, []byte(head+"-- plan --\n"+got), 0o644); err != nil { //nolint:gosec // a fixture
		t.Fatal(err)
	}
}

// text is a plan in lines that a person can check.
func text(p *repair.Plan) string {
	var b strings.Builder
	for _, t := range p.Targets {
		fmt.Fprintf(&b, "%s %s%s\n", t.Finding, t.Risk, proofText(t.Proof))
		for _, w := range t.Warnings {
			if strings.HasPrefix(t.Finding, "PL1002/") {
				continue // rescue_test.go minds those words
			}
			fmt.Fprintf(&b, "  warns: %s\n", w)
		}
	}
	for _, s := range p.Steps {
		always := ""
		if s.Always {
			always = ", always"
		}
		fmt.Fprintf(&b, "%d %s %s for %s%s%s\n", s.ID, s.Do, abbreviated(s.On.String()), abbreviated(strings.Join(s.For, " ")), always, changeText(s.Change))
	}
	for _, r := range p.Refused {
		fmt.Fprintf(&b, "refused %s: %s (%s)\n", abbreviated(r.Finding), abbreviated(r.Why), abbreviated(r.Advice))
	}
	return b.String()
}

// abbreviated cuts container IDs to what tells them apart.
func abbreviated(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) })
	for _, w := range words {
		if len(w) == 64 {
			s = strings.ReplaceAll(s, w, w[:8])
		}
	}
	return s
}

func proofText(p change.Proof) string {
	var out string
	if d := p.NotInUse; d != nil {
		out += fmt.Sprintf("\n  dead: %v by %v", d.IPs, d.Nodes)
		if d.All {
			out += " and all"
		}
		if len(d.Containers) > 0 {
			out += abbreviated(fmt.Sprintf(", containers %v", d.Containers))
		}
		for _, g := range d.Gone {
			out += fmt.Sprintf(", %s/%s not with %v", g.Namespace, g.Name, g.Not)
		}
		for _, r := range d.Absent {
			out += fmt.Sprintf(", no %s", r)
		}
	}
	if l := p.Running; l != nil {
		out += abbreviated(fmt.Sprintf("\n  lives: %s/%s on %s in %s with %v", l.Namespace, l.Pod, l.Node, l.Container, l.IPs))
	}
	return out
}

func changeText(c change.Change) string {
	var out []string
	switch c := c.(type) {
	case change.Ordinals:
		for _, o := range c {
			from, to := "free", "free"
			if o.From != nil {
				from = fmt.Sprintf("%s/%d", o.From.Handle, o.From.Sequence)
			}
			if o.To != nil {
				to = ownerText(o.To)
			}
			out = append(out, fmt.Sprintf("%s %s -> %s", o.IP, from, to))
		}
	case *change.Mend:
		for _, o := range c.Owners {
			out = append(out, fmt.Sprintf("%s -> %s", o.IP, ownerText(o.To)))
		}
	case *change.Count:
		out = append(out, fmt.Sprintf("in %v raise %v unchanged %q", c.Blocks, c.Raise, c.Unchanged))
	case *change.Affinity:
		out = append(out, fmt.Sprintf("%q -> %s with %d labels", c.From, c.Want, len(c.Label)))
	case *change.Restart:
		out = append(out, c.UID)
	}
	if len(out) == 0 {
		return ""
	}
	return "\n  " + abbreviated(strings.Join(out, "\n  "))
}

func ownerText(o *change.Owner) string {
	second := ""
	for _, k := range []string{"namespace", "pod", "node", "type"} {
		if v := o.Secondary[k]; v != "" {
			second += " " + k + "=" + v
		}
	}
	return o.Handle + second
}
