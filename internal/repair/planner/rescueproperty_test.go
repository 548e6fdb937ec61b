package planner

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// users are the running pods that have an address: by the report of their own node, else,
// where that was not checked, by their status or annotation.
func users(v *model.View, ip netip.Addr) []*model.Pod {
	var out []*model.Pod
	for i := range int32(v.Rows(model.Pods)) {
		pod := v.Pod(i)
		if !pod.Networked() || !pod.Deleted.IsZero() {
			continue
		}
		uses := slices.Contains(pod.Claims(), ip)
		if v.Sees(pod.Node, model.Sandboxes, model.Attachments) {
			sandbox := v.RunningSandbox(pod)
			uses = sandbox != nil && v.Inside(pod.Node, sandbox.ID) != nil && v.Inside(pod.Node, sandbox.ID).Has(ip)
		}
		if uses {
			out = append(out, pod)
		}
	}
	return out
}

// checkRescue holds a plan against what it may never do.
func checkRescue(t *testing.T, v *model.View, p *repair.Plan) {
	t.Helper()
	evicted := map[string]bool{}
	raised := map[string]bool{} // handle and address
	for i := range p.Steps {
		s := &p.Steps[i]
		if len(s.For) == 0 || slices.ContainsFunc(s.For, func(k string) bool { return p.Target(k) == nil }) {
			t.Errorf("step %d is for %v, which is no target", s.ID, s.For)
		}
		if _, ok := s.Change.(*change.Evict); ok {
			evicted[s.On.Name] = true
			if !slices.ContainsFunc(s.For, func(k string) bool { return strings.HasPrefix(k, "PL2010/") }) {
				t.Errorf("step %d evicts for %v", s.ID, s.For)
			}
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		switch c := s.Change.(type) {
		case *change.Count:
			for _, r := range c.Raise {
				for _, ip := range r.IPs {
					raised[c.Handle+" "+ip.String()] = true
				}
			}
		case change.Ordinals:
			for _, o := range c {
				checkOrdinal(t, v, p, s, o, evicted, raised)
			}
		case *change.Annotate:
			for _, ip := range c.IPs {
				if who := users(v, ip.Addr()); len(who) != 1 || who[0].Ref() != s.On {
					t.Errorf("step %d shows %s on %s; its users are %v", s.ID, ip, s.On, names(who))
				}
			}
		}
	}
	for i := range p.Targets {
		g := &p.Targets[i]
		if !slices.ContainsFunc(p.Steps, func(s repair.Step) bool { return s.Serves(g.Finding) }) {
			t.Errorf("%s is a target and has no step", g.Finding)
		}
		if g.Proof.NotInUse == nil && g.Proof.Running == nil {
			t.Errorf("%s has no proof", g.Finding)
		}
		if l := g.Proof.Running; l != nil && evicted[l.Namespace+"/"+l.Pod] {
			t.Errorf("%s stays and is evicted", l.Pod)
		}
	}
}

func names(pods []*model.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Name)
	}
	return out
}

func checkOrdinal(t *testing.T, v *model.View, p *repair.Plan, s *repair.Step, o change.Ordinal, evicted, raised map[string]bool) {
	t.Helper()
	who := users(v, o.IP)
	switch {
	case o.To == nil:
		if len(who) > 0 {
			t.Errorf("step %d frees %s of %v", s.ID, o.IP, names(who))
		}
		return
	case o.To.Secondary["node"] == "":
		t.Errorf("step %d leaves %s without a node", s.ID, o.IP)
	case strings.HasPrefix(o.To.Handle, "plumbline-hold."):
		next := slices.IndexFunc(p.Steps[s.ID:], func(n repair.Step) bool {
			os, _ := n.Change.(change.Ordinals)
			return slices.ContainsFunc(os, func(m change.Ordinal) bool { return m.IP == o.IP && m.From != nil && m.From.Handle == o.To.Handle })
		})
		if next < 0 {
			t.Errorf("step %d holds %s and nobody hands it over", s.ID, o.IP)
		}
		return
	case o.To.Secondary["type"] != "":
		return // a tunnel's, with its block
	}
	if !raised[o.To.Handle+" "+o.IP.String()] {
		t.Errorf("step %d gives %s to %s, which does not count it yet", s.ID, o.IP, o.To.Handle)
	}
	for _, pod := range who {
		sandbox := v.RunningSandbox(pod)
		mine := sandbox != nil && strings.HasSuffix(o.To.Handle, "."+sandbox.ID) && o.To.Secondary["pod"] == pod.Name && v.SameNode(o.To.Secondary["node"], pod.Node)
		if !mine && !evicted[pod.Namespace+"/"+pod.Name] {
			t.Errorf("step %d moves %s to %s, away from %s", s.ID, o.IP, o.To.Handle, pod.Name)
		}
	}
	if len(who) == 0 {
		t.Errorf("step %d gives %s to %s, and no running pod has it", s.ID, o.IP, o.To.Handle)
	}
}

// Random combinations of the edits of all fixtures: whatever the sources then report, no plan
// takes an address from a running pod that has it.
func TestRescueHarmsNobody(t *testing.T) {
	t.Parallel()
	var edits []string
	for _, c := range rescueCases(t) {
		for line := range strings.Lines(c.edits) {
			if strings.TrimSpace(line) != "" && !slices.Contains(edits, line) {
				edits = append(edits, line)
			}
		}
	}
	codes := []finding.Code{"PL1001", "PL1002", "PL1003", "PL2001", "PL2002", "PL2003", "PL2010"}
	planned := map[finding.Code]int{}
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 5))
		c := rescueCase{path: "random", world: []string{"crd", "etcd"}[r.IntN(2)]}
		v := c.shuffled(t, r, edits)
		var fs []finding.Finding
		for _, f := range detect.Run(v, detect.All...).Findings {
			if f.State = finding.Confirmed; slices.Contains(codes, f.Code) {
				fs = append(fs, f)
			}
		}
		p := Make(v, fs, rescueOptions())
		checkRescue(t, v, p)
		for i := range p.Targets {
			code, _, _ := strings.Cut(p.Targets[i].Finding, "/")
			planned[finding.Code(code)]++
		}
		a, _ := json.Marshal(p)
		b, _ := json.Marshal(Make(v, fs, rescueOptions()))
		if !bytes.Equal(a, b) {
			t.Errorf("the same plan twice differs:\n%s\n%s", a, b)
		}
		if t.Failed() {
			t.Fatalf("seed %d, %s:\n%s\n%s", seed, c.world, c.edits, planText(t, p))
		}
	}
	for _, code := range codes[1:] { // releases are others' work, and only mixed in
		if planned[code] < 10 {
			t.Errorf("%s was planned %d times only: the test tests too little", code, planned[code])
		}
	}
}

// shuffled builds a world with a few of the edits; those that fit no row are left out.
func (c *rescueCase) shuffled(t *testing.T, r *rand.Rand, edits []string) *model.View {
	t.Helper()
	for range 1 + r.IntN(6) {
		c.edits += edits[r.IntN(len(edits))]
	}
	return c.lenient(t)
}

func TestRescueFixturesHarmNobody(t *testing.T) {
	t.Parallel()
	for _, c := range rescueCases(t) {
		p, v := c.plan(t)
		checkRescue(t, v, p)
	}
}
