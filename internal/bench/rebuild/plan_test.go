//go:build e2e

package rebuild

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// patience is how often all nodes are read until all that can answer have answered:
// thousands of agents share two cores with the API server here.
const patience = 5

// healthy requires that there are no findings yet.
func (c *cluster) healthy(t *testing.T, r *report) {
	t.Helper()
	var got result
	for range patience {
		if got = c.run(t, r, "check", "--settle=1s"); got.exit == 0 {
			return
		}
	}
	t.Fatalf("the cluster is not healthy before anything is broken: exit %d\n%.3000s", got.exit, got.text)
}

// A plan is a saved plan.
type plan struct{ repair.Plan }

// plan plans a rebuild with all nodes whose agents answer.
func (c *cluster) plan(t *testing.T, r *report, name string) *plan {
	t.Helper()
	file := filepath.Join(c.state, name)
	for range patience {
		c.run(t, r, "plan", "--rebuild", "--allow-mass-change", "--settle=1s", "--save", file)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var p plan
		if err := json.Unmarshal(b, &p); err != nil {
			t.Fatal(err)
		}
		if p.unseen() == *silent {
			return &p
		}
	}
	t.Fatalf("nodes that should answer do not: %d without an answer", *silent)
	return nil
}

// unseen counts the nodes that did not answer.
func (p *plan) unseen() (n int) {
	for _, f := range p.Refused {
		if strings.HasPrefix(f.Finding, "PL9001/") {
			n++
		}
	}
	return n
}

// judge counts the planned changes, and requires that nothing is released on nodes
// without an answer.
func (p *plan) judge(t *testing.T, r *report, c *cluster) {
	t.Helper()
	says := &complaints{t: t}
	defer says.close()
	codes, kinds := map[string]int{}, map[string]int{}
	for i := range p.Targets {
		codes[p.Targets[i].Finding[:6]]++
	}
	refused := map[string]int{}
	for _, f := range p.Refused {
		refused[f.Finding[:6]]++
	}
	mute := map[netip.Prefix]bool{}
	for _, h := range c.hosts {
		if h.mute {
			mute[h.block()] = true
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		kinds[s.Do+" "+string(s.On.Kind)]++
		os, _ := s.Change.(change.Ordinals)
		for _, o := range os {
			if b, _ := o.IP.Prefix(26); mute[b] {
				says.add("planned", "to %s %s of a node without an answer", s.Do, o.IP)
			}
		}
	}
	r.add("planned", fmt.Sprint(codes), fmt.Sprint(kinds))
	r.add("refused", fmt.Sprint(refused), "")
}

// refusedOnly requires that every refusal is about a node without an answer, or needs
// its verification.
func (p *plan) refusedOnly(t *testing.T, c *cluster) {
	t.Helper()
	says := &complaints{t: t}
	defer says.close()
	quiet := map[string]bool{}
	for _, h := range c.hosts {
		if h.mute {
			quiet[h.name] = true
			quiet[change.UnknownHandle(h.block())] = true // what its broken block allocated with invalid attributes
		}
	}
	for _, f := range p.Refused {
		_, subject, _ := strings.Cut(f.Finding, "/")
		if ip, err := netip.ParseAddr(strings.TrimSuffix(subject, "/26")); err == nil {
			subject = c.ownerOf(ip)
		}
		named := slices.ContainsFunc(strings.Fields(f.Why), func(word string) bool { return quiet[word] })
		if !quiet[subject] && !named {
			says.add("refused", "%s: %s", f.Finding, f.Why)
		}
	}
}

// ownerOf is the node whose block has an address.
func (c *cluster) ownerOf(ip netip.Addr) string {
	for _, h := range c.hosts {
		if h.block().Contains(ip) {
			return h.name
		}
	}
	return ""
}
