package planner

import (
	"fmt"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// 600 endpoints of pods that are gone are one plan: a step and a proof for each.
func TestManyEndpointsInOnePlan(t *testing.T) {
	t.Parallel()
	c := rescueCase{path: "many", world: "etcd"}
	var edits, asks strings.Builder
	for i := range 600 {
		name := fmt.Sprintf("n1-k8s-gone%d-eth0", i)
		fmt.Fprintf(&edits, `endpoints.jsonl + {"namespace":"shop","name":%q,"node":"n1","orchestrator":"k8s","pod":"gone%d","interface":"eth0","containerID":"%064x","ips":["10.0.0.200"]}`+"\n", name, i, i)
		fmt.Fprintf(&asks, "PL2002/shop/%s\n", name)
	}
	c.edits, c.asks = edits.String(), asks.String()
	p, v := c.plan(t)
	checkRescue(t, v, p)
	if len(p.Targets) != 600 || len(p.Steps) != 600 || len(p.Refused) != 0 || p.Risk() != change.Safe {
		t.Fatalf("%d targets, %d steps, %d refused, risk %s", len(p.Targets), len(p.Steps), len(p.Refused), p.Risk())
	}
	seen := map[model.Ref]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		e, ok := s.Change.(*change.Endpoint)
		d := p.Target(s.For[0]).Proof.NotInUse
		if seen[s.On] || !ok || e.Want != nil || len(d.Containers) != 1 || d.Containers[0] != e.Container || len(d.Gone) != 1 {
			t.Errorf("step %d: %+v %+v", s.ID, e, d)
		}
		seen[s.On] = true
	}
}
