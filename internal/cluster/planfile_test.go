package cluster

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

const anID = "247d3c78aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// rescue is the plan that gives shop/db-0 its record back.
func rescue() *repair.Plan {
	p, err := ReadPlan("testdata/plan.yaml", nil)
	if err != nil {
		panic(err)
	}
	return p
}

func TestPlanIsReadAsItWasSaved(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"p.yaml", "p.json"} {
		path := filepath.Join(t.TempDir(), name)
		p := rescue()
		p.Steps[1].Change.(change.Ordinals)[0].From = &change.Held{Attribute: model.Attribute{Handle: "h"}, Sequence: 1794736714403100461}
		if err := SavePlan(path, p); err != nil {
			t.Fatal(err)
		}
		got, err := ReadPlan(path, nil)
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

var theirs = netip.MustParsePrefix("10.244.8.35/32")

// endpointOf makes the plan write an endpoint under the right name.
func endpointOf(body string) func(p *repair.Plan) {
	return func(p *repair.Plan) {
		name := model.EndpointName("w17", &model.Pod{Namespace: "shop", Name: "db-0"})
		p.Steps[2] = repair.Step{ID: 3, On: model.Ref{Kind: model.KindEndpoint, Name: name}, For: p.Steps[2].For, Change: &change.Endpoint{Want: json.RawMessage(body), Blocks: []netip.Prefix{netip.MustParsePrefix("10.244.8.0/26")}}}
	}
}

// TestEndpointOfItsOwn: without it the refusals of endpoints would prove nothing.
func TestEndpointOfItsOwn(t *testing.T) {
	t.Parallel()
	p := rescue()
	endpointOf(`{"metadata":{"namespace":"shop"},"spec":{"node":"w17","pod":"db-0","containerID":"` + anID + `","interfaceName":"cali91dded39638","ipNetworks":["10.244.8.34/32"]}}`)(p)
	if err := p.Valid(); err != nil {
		t.Error(err)
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
		"it says that it undoes a plan":  func(p *repair.Plan) { p.Undoes = "x" },
		"annotates another pod":          func(p *repair.Plan) { p.Steps[2].On.Name = "shop/victim" },
		"annotates another pod's UID":    func(p *repair.Plan) { p.Steps[2].Change.(*change.Annotate).UID = "v" },
		"annotates an address of others": func(p *repair.Plan) { p.Steps[2].Change.(*change.Annotate).IPs = []netip.Prefix{theirs} },
		"records for another handle": func(p *repair.Plan) {
			p.Steps[1].Change.(change.Ordinals)[0].To.Handle = "k8s-pod-network." + strings.Repeat("b", 64)
		},
		"records for another pod":      func(p *repair.Plan) { p.Steps[1].Change.(change.Ordinals)[0].To.Secondary["pod"] = "db-1" },
		"records an address of others": func(p *repair.Plan) { p.Steps[1].Change.(change.Ordinals)[0].IP = theirs.Addr() },
		"hands an address of others over": func(p *repair.Plan) {
			p.Steps[1].Change = change.Ordinals{{For: p.Targets[0].Finding, IP: theirs.Addr(), From: &change.Held{}, To: &change.Owner{Handle: "k8s-pod-network." + anID}}}
		},
		"creates a block with an owner of its own": func(p *repair.Plan) {
			p.Steps[1].Change = &change.NewBlock{Node: "w17", Born: []change.Ordinal{{For: p.Targets[0].Finding, IP: theirs.Addr(), To: &change.Owner{Handle: "k8s-pod-network." + anID}}}}
		},
		"recounts a handle that nothing is taken from": func(p *repair.Plan) {
			p.Steps[0].Always, p.Steps[0].Change = true, &change.Count{Handle: p.Steps[0].On.Name}
		},
		"removes a handle unseen": func(p *repair.Plan) {
			p.Steps[0].Change = &change.Count{Handle: p.Steps[0].On.Name, Unchanged: "1"}
			p.Targets[0].Proof.NotInUse = &change.NotInUse{}
		},
		"removes a handle that others were seen for": func(p *repair.Plan) {
			p.Steps[0].Change = &change.Count{Handle: p.Steps[0].On.Name, Unchanged: "1"}
			p.Targets[0].Proof.NotInUse = &change.NotInUse{All: true, Containers: []string{strings.Repeat("b", 64)}}
		},
		"annotates before IPAM is asked":     func(p *repair.Plan) { p.Steps[2].Change.(*change.Annotate).Blocks = nil },
		"endpoint of another pod":            endpointOf(`{"metadata":{"namespace":"shop"},"spec":{"node":"w17","pod":"victim","containerID":"` + anID + `","interfaceName":"cali91dded39638","ipNetworks":["10.244.8.34/32"]}}`),
		"endpoint with an address of others": endpointOf(`{"metadata":{"namespace":"shop"},"spec":{"node":"w17","pod":"db-0","containerID":"` + anID + `","interfaceName":"cali91dded39638","ipNetworks":["10.244.8.35/32"]}}`),
		"endpoint on the veth of another":    endpointOf(`{"metadata":{"namespace":"shop"},"spec":{"node":"w17","pod":"db-0","containerID":"` + anID + `","interfaceName":"cali00000000000","ipNetworks":["10.244.8.34/32"]}}`),
	} {
		p := rescue()
		if change != nil {
			change(p)
		}
		b, err := json.Marshal(DocumentOf(p))
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
	good, err := json.Marshal(DocumentOf(rescue()))
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
	b, err := json.Marshal(DocumentOf(rescue()))
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
