//go:build e2e

package cluster_test

import (
	"context"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/repair/planner"
	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/load"
)

func TestMain(m *testing.M) { lab.Main(m) }

// TestLabProgram is all that a program needs to follow a cluster and plan a repair.
func TestLabProgram(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true})
	sum, err := load.Run(t.Context(), l, load.Config{Nodes: 5, PodsPerNode: 10, Faults: load.Faults{load.MissingHandle: 1}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	o := cluster.Options{Kube: kube.Options{Kubeconfig: l.Kubeconfig(), Timeout: time.Minute}, Notice: func(s string) { t.Log(s) }}
	var found *audit.Report
	w := cluster.Watch{Options: o, Audit: audit.Options{Detectors: detect.All, Settle: 2 * time.Second}, Each: func(p cluster.Pass) {
		t.Logf("%d confirmed, %d unconfirmed, judged in %s", len(p.Findings), len(p.Unconfirmed), p.Took)
		for _, f := range p.Findings {
			t.Log(f.Key(), f.Summary)
		}
		if len(p.Findings) > 0 {
			found = p.Report
			stop()
		}
	}}
	if err := w.Run(ctx); err != nil || found == nil {
		t.Fatalf("nothing of %v was confirmed: %v", sum.Faults, err)
	}
	c, err := cluster.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p := c.Plan(t.Context(), found, found.Findings[:1], planner.Options{ID: "program", Settle: 2 * time.Second})
	t.Logf("%d steps, refused %v", len(p.Steps), p.Refused)
	if key := found.Findings[0].Key(); len(p.Refused) != 1 || p.Refused[0].Finding != key { // no agent can verify it here
		t.Errorf("%s: %d steps, refused %v", key, len(p.Steps), p.Refused)
	}
}
