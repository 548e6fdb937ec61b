package executetest

import (
	"context"
	"net/netip"
	"testing"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// TestHostilePlan: a plan that somebody wrote by hand frees the address of a running pod, and
// names as the node that verifies it one that has nothing to do with it. The executor asks the
// nodes that could have it, whatever the plan says.
func TestHostilePlan(t *testing.T) {
	tried := 0
	for seed := uint64(1); seed < 400 && tried < 100; seed++ {
		w := newWorld(seed)
		w.build()
		w.rate = 0
		w.ticks(40)
		k := w.runs()
		if k == nil || len(w.nodes) < 2 || w.dual {
			continue
		}
		tried++
		ip := k.box.ips[0]
		at := holder(w.calico.get(blockRef(blockOf(ip))).value.(*object.Block), ordinalOf(ip))
		other := ""
		for _, n := range w.nodes {
			if n != k.n {
				other = n.name
			}
		}
		f := "PL1001/" + ip.String()
		p := &repair.Plan{
			Schema: repair.Schema, ID: "x", Cluster: "sim",
			Targets: []repair.Target{{Finding: f, Risk: change.Safe, Proof: change.Proof{NotInUse: &change.NotInUse{IPs: []netip.Addr{ip}, Containers: []string{k.box.id}, Nodes: []string{other}}}}},
			Steps:   []repair.Step{{ID: 1, Do: "release", On: blockRef(blockOf(ip)), For: []string{f}, Change: change.Ordinals{{For: f, IP: ip, From: &change.Held{Attribute: at.Row()}}}}},
		}
		if err := p.Valid(); err != nil {
			t.Fatalf("the plan is not even tried: %v", err)
		}
		r := &run{w: w, plan: p, line: &line{w: w}}
		r.journal = &journal{line: r.line}
		r.mutant, _ = mutantOf("")
		w.began = true
		res, err := r.executor().Run(context.Background(), p, nil)
		if err != nil || w.broken != nil || res.Findings[f].Outcome != repair.Refused {
			t.Errorf("seed %d: %v, %+v, harm: %v", seed, err, res.Findings, w.broken)
		}
	}
	if tried < 20 {
		t.Errorf("only %d worlds had a running pod and a second node", tried)
	}
}
