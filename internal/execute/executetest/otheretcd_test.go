package executetest

import (
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/planner"
)

// The kubeconfig names one cluster and --etcd-endpoints another, with equal names of nodes and an
// equal pool: against the pods of the first all records of the second look leaked. Nothing is
// planned, and nothing may be applied. With its own etcd the same cluster is repaired.
func TestOtherEtcd(t *testing.T) {
	t.Parallel()
	pairs, own := 0, 0
	for seed := uint64(1); pairs < 100 && seed < 5000; seed++ {
		a, b := newWorld(seed), newWorld(seed+10_000)
		if !a.etcd || !b.etcd || a.dual != b.dual {
			continue
		}
		a.build()
		b.build()
		if len(a.nodes) != len(b.nodes) || !inUse(a) || !inUse(b) {
			continue
		}
		pairs++
		a.rate, b.rate = 0, 0
		if _, no := planned(a); no == nil {
			own++
		}
		a.calico = b.calico
		if p, no := planned(a); no == nil || p.Writes() {
			t.Errorf("seed %d: %d steps: %+v", seed, len(p.Steps), no)
		}
	}
	if pairs < 100 || own < 90 {
		t.Errorf("of %d clusters %d are proven with their own etcd", pairs, own)
	}
}

// inUse reports whether a pod runs in a world.
func inUse(w *world) bool {
	for _, n := range w.nodes {
		for _, b := range n.boxes {
			if b.ready {
				return true
			}
		}
	}
	return false
}

// planned plans all that is found, and returns why apply would refuse the datastore.
func planned(w *world) (*repair.Plan, *repair.Refusal) {
	var memory audit.Memory
	var report *audit.Report
	for range 3 {
		report = w.audit(0, memory, func(*model.Snapshot) {})
		memory = report.Memory
		w.passes(8 * time.Minute)
	}
	return planner.Make(report.View, append(report.Findings, report.Unconfirmed...), planner.Options{
		ID: "sim", Made: w.time(), Version: "sim", IPAM: report.Calico.IPAM, AllowMassChange: true, PodJSON: w.podJSON, EndpointJSON: w.endpointJSON,
	}), planner.RefusedDatastore(report.View)
}
