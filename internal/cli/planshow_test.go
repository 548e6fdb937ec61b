package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

const anID = "247d3c78aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// rescue is the plan that gives shop/db-0 its record back.
func rescue() *repair.Plan {
	const f = "PL2001/shop/db-0"
	handle := "k8s-pod-network." + anID
	ip, cidr := netip.MustParseAddr("10.244.8.34"), netip.MustParsePrefix("10.244.8.0/26")
	lives := &change.RunningPod{Namespace: "shop", Pod: "db-0", UID: "u", Node: "w17", Container: anID, IPs: []netip.Addr{ip}, Device: "cali91dded39638"}
	return &repair.Plan{
		Schema: repair.Schema, ID: "7f3a1c", Cluster: "1f0c", Made: 1794737876, KubeRevision: "1794736714403100461",
		Targets: []repair.Target{{Finding: f, Summary: "runs without endpoint", Risk: change.Safe, Proof: change.Proof{Running: lives}, Watch: 1350}},
		Steps: []repair.Step{
			{ID: 1, Do: "count", On: model.Ref{Kind: model.KindHandle, Name: handle}, For: []string{f}, Change: &change.Count{Handle: handle, Raise: []change.Raise{{Block: cidr, IPs: []netip.Addr{ip}}}}},
			{ID: 2, Do: "record", On: model.Ref{Kind: model.KindBlock, Name: cidr.String()}, For: []string{f}, Change: change.Ordinals{{For: f, IP: ip, To: &change.Owner{Handle: handle, Secondary: map[string]string{"pod": "db-0"}}}}},
			{ID: 3, Do: "annotate", On: model.Ref{Kind: model.KindPod, Name: "shop/db-0"}, For: []string{f}, Change: &change.Annotate{UID: "u", Container: anID, IPs: []netip.Prefix{netip.PrefixFrom(ip, 32)}}},
			{ID: 4, Do: "wait", On: model.Ref{Kind: model.KindPath, Name: "w17/10.244.8.34"}, For: []string{f}, Change: &change.Await{Node: "w17", IP: ip, Device: "cali91dded39638", Seconds: 90}},
		},
		Refused: []repair.Refusal{{Finding: "PL1005/10.244.200.32/27", Why: "there is no safe repair of it", Advice: "restart the workloads that have addresses of the block; Calico removes it when it is empty"}},
	}
}

// litter is a plan of hundreds of steps, with names of strangers in it.
func litter() *repair.Plan {
	p := &repair.Plan{Schema: repair.Schema, ID: "c81d", Cluster: "1f0c"}
	for i := range 612 {
		f := fmt.Sprintf("PL2002/xxx\x1b[31m/w3-k8s-old--%d-eth0", i)
		p.Targets = append(p.Targets, repair.Target{Finding: f, Risk: change.Safe, NoUndo: "there is no pod", Proof: change.Proof{NotInUse: &change.NotInUse{Containers: []string{anID}, Nodes: []string{fmt.Sprintf("w%d", i%31)}}}})
		p.Steps = append(p.Steps, repair.Step{ID: i + 1, Do: "delete", On: model.Ref{Kind: model.KindEndpoint, Name: f[7:]}, For: []string{f}, Change: &change.Endpoint{Container: anID}})
	}
	p.Targets[0].Risk, p.Targets[0].Touches = change.Disruptive, []string{"xxx/other has 10.0.0.1 as well"}
	return p
}

func shown(t *testing.T, show func(g *global)) string {
	t.Helper()
	var out bytes.Buffer
	show(&global{Env: Env{Stdout: &out, Stderr: &out, Columns: 80, Getenv: func(string) string { return "" }}, prog: "kubectl plumbline"})
	for l := range strings.Lines(out.String()) {
		if utf8.RuneCountInString(strings.TrimSuffix(l, "\n")) > 80 {
			t.Errorf("longer than 80: %q", l)
		}
		if strings.ContainsRune(l, 0x1b) {
			t.Errorf("a stranger's name reaches the terminal: %q", l)
		}
	}
	return out.String()
}

// TestPlanScreens keeps what a person sees of plans, and of their execution.
func TestPlanScreens(t *testing.T) {
	t.Parallel()
	for name, show := range map[string]func(g *global){
		"plan":        func(g *global) { _ = g.showPlan(rescue(), planFlags{output: "text", save: "plan.yaml"}) },
		"plan-groups": func(g *global) { _ = g.showPlan(litter(), planFlags{output: "text"}) },
		"plan-nothing": func(g *global) {
			_ = g.showPlan(&repair.Plan{Refused: rescue().Refused}, planFlags{output: "text"})
			_ = g.showPlan(&repair.Plan{}, planFlags{output: "text"})
		},
		"apply": func(g *global) {
			p := rescue()
			w := &applyRun{g: g, f: applyFlags{maxRisk: "safe"}, budget: cluster.DefaultBudget, Run: &cluster.Run{Plan: p, Skipped: []repair.Refusal{{Finding: "PL1001/10.0.0.1", Why: "it is not found any more"}}}}
			w.headline()
			for i := range p.Steps {
				w.progress(cluster.Progress{Step: &p.Steps[i], N: i + 1, Of: 4, Outcome: []repair.Outcome{repair.Done, repair.Already, repair.Refused, repair.Unknown}[i], Why: []string{"", "", "sandbox " + anID + " does not run on w17, as its own agent says after a fresh look", ""}[i]})
			}
			w.left(map[string]string{"PL2001/shop/db-0": "refused: sandbox " + anID + " does not run"})
		},
	} {
		got := shown(t, show)
		file := filepath.Join("testdata", "screens", name+".txt")
		if rewriting() {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || got != string(want) {
			t.Errorf("%s: %v\ngot:\n%s\nwant:\n%s", name, err, got, want)
		}
	}
}

// rewriting asks the flag of the other tests of this directory.
func rewriting() bool { f := flag.Lookup("update"); return f != nil && f.Value.String() == "true" }

func TestPlanIsReadAsItWasSaved(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"p.yaml", "p.json"} {
		path := filepath.Join(t.TempDir(), name)
		p := rescue()
		p.Steps[1].Change.(change.Ordinals)[0].From = &change.Held{Attribute: model.Attribute{Handle: "h"}, Sequence: 1794736714403100461}
		if err := savePlan(path, p); err != nil {
			t.Fatal(err)
		}
		g := &global{Env: Env{Stdin: strings.NewReader("")}}
		got, err := g.readPlan(path)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(p)
		b, _ := json.Marshal(got)
		if !bytes.Equal(a, b) || !bytes.Contains(b, []byte("1794736714403100461")) {
			t.Errorf("%s:\nsaved %s\nread  %s", name, a, b)
		}
	}
}

// TestPlanOfAStranger: what no rule allows is refused before anything is asked of a cluster.
func TestPlanOfAStranger(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(p *repair.Plan){
		"a field that we do not know": nil,
		"no proof":                    func(p *repair.Plan) { p.Targets[0].Proof = change.Proof{} },
		"another sandbox's proof":     func(p *repair.Plan) { p.Targets[0].Proof.Running.Container = "x" },
		"freed without a witness":     func(p *repair.Plan) { p.Steps[1].Change.(change.Ordinals)[0].To = nil },
		"freed, and nobody is asked": func(p *repair.Plan) {
			p.Steps[1].Change.(change.Ordinals)[0].To = nil
			p.Targets[0].Proof.NotInUse = &change.NotInUse{IPs: []netip.Addr{p.Steps[1].Change.(change.Ordinals)[0].IP}}
		},
		"no change":                   func(p *repair.Plan) { p.Steps[2].Change = nil },
		"another kind":                func(p *repair.Plan) { p.Steps[2].On.Kind = model.KindNode },
		"always, and no count":        func(p *repair.Plan) { p.Steps[1].Always = true },
		"for nobody":                  func(p *repair.Plan) { p.Steps[0].For = nil },
		"for a stranger":              func(p *repair.Plan) { p.Steps[0].For = []string{"PL9999/x"} },
		"steps out of order":          func(p *repair.Plan) { p.Steps[0].ID = 9 },
		"a name that leads elsewhere": func(p *repair.Plan) { p.ID = "../x" },
		"evicted, and nobody stays": func(p *repair.Plan) {
			p.Steps[2].Change = &change.Evict{UID: "u"}
		},
		"endpoint of one that may live": func(p *repair.Plan) {
			p.Steps[2] = repair.Step{ID: 3, On: model.Ref{Kind: model.KindEndpoint, Name: "a/b"}, For: p.Steps[2].For, Change: &change.Endpoint{Container: anID}}
		},
	} {
		p := rescue()
		if change != nil {
			change(p)
		}
		b, err := json.Marshal(planFile(p))
		if err != nil {
			t.Fatal(err)
		}
		if change == nil {
			b = bytes.Replace(b, []byte(`"kind":"Plan"`), []byte(`"kind":"Plan","force":true`), 1)
		}
		if _, err := parsePlan(b); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := parsePlan([]byte(`{}`)); err == nil {
		t.Error("nothing is taken for a plan")
	}
	// One of schema 1 is named, although its fields have other names.
	for _, old := range []string{`{"apiVersion":"plumbline.dev/v1alpha1","kind":"Plan","schema":1,"ledger":"7"}`, "kind: Plan\nschema: 1\nledger: '7'\n"} {
		if _, err := parsePlan([]byte(old)); err == nil || !strings.Contains(err.Error(), "it has schema 1, this version reads 2: make the plan again") {
			t.Errorf("a plan of schema 1: %v", err)
		}
	}
}

// TestPlanWithStepsOfAnotherVersion: a step that is not understood in full is not half done,
// in JSON and in YAML.
func TestPlanWithStepsOfAnotherVersion(t *testing.T) {
	t.Parallel()
	good, err := json.Marshal(planFile(rescue()))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, with string }{
		"as it was saved":            {},
		"an unknown kind":            {`"annotate":{`, `"reboot":{`},
		"an unknown field":           {`"annotate":{`, `"annotate":{"force":true,`},
		"an unknown field of a step": {`"annotate":{`, `"force":true,"annotate":{`},
		"two kinds":                  {`"annotate":{`, `"restart":{"uid":"u"},"annotate":{`},
	} {
		b := bytes.Replace(good, []byte(c.old), []byte(c.with), 1)
		y, err := yaml.JSONToYAML(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{b, y} {
			if _, err := parsePlan(text); (err == nil) != (c.old == "") {
				t.Errorf("%s: %v\n%s", name, err, text)
			}
		}
	}
}

func FuzzParsePlan(f *testing.F) {
	b, err := json.Marshal(planFile(rescue()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("kind: Plan\nsteps: [{id: 1}]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parsePlan(b)
		if err == nil && p.Valid() != nil {
			t.Errorf("an invalid plan was taken: %s", b)
		}
	})
}

func TestBudgetFlag(t *testing.T) {
	t.Parallel()
	b, err := budgetOf([]string{"blocks=5/s", "handles=50"})
	if err != nil || b.Blocks != 5 || b.Handles != 50 || b.Others != cluster.DefaultBudget.Others {
		t.Errorf("%+v, %v", b, err)
	}
	for _, bad := range []string{"blocks", "blocks=0", "blocks=-1", "x=1", "blocks=1e9", "blocks=NaN"} {
		if _, err := budgetOf([]string{bad}); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
