//go:build e2e

package agents

import (
	"context"
	"encoding/json"
	"flag"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/scenarios/churn"
	"plumbline.dev/plumbline/lab/stage"
)

func TestMain(m *testing.M) { lab.Main(m) }

var (
	howLong = flag.Duration("agents", 30*time.Minute, "how long agents are killed under churn")
	binary  = flag.String("agent", "../../../bin/plumbline-agent", "the agent to kill")
)

const (
	killEvery   = 30 * time.Second
	sampleEvery = 20 * time.Second
	restAfter   = time.Minute
)

// TestAgentKilled kills the agents in turn while pods start and end, and checks what
// remains of them afterwards.
func TestAgentKilled(t *testing.T) {
	l := lab.Start(t, lab.Config{Nodes: 3, Datastore: lab.KDD})
	if err := lab.InstallAgents(t.Context(), l, filepath.Clean(*binary), "../../../deploy/repair.yaml"); err != nil {
		t.Fatal(err)
	}
	w := &watch{l: l}
	w.answers(t, 30*time.Second)
	time.Sleep(sampleEvery) // until they have read everything
	w.sample(t)
	sc := churn.Scenario
	run := sc.Run
	sc.Run = func(ctx context.Context, s *stage.Stage) error {
		until, stop := context.WithTimeout(ctx, *howLong)
		var wg sync.WaitGroup
		wg.Go(func() { w.kill(until, t) })
		wg.Go(func() { w.follow(until, t) })
		err := run(ctx, s)
		stop()
		wg.Wait()
		return err
	}
	if err := stage.Play(t.Context(), l, sc, stage.Options{Keep: true, For: *howLong, Tell: func(s string) { t.Log(s) }}); err != nil {
		t.Errorf("churn: %v", err) // the results of the agents are still reported
	}
	// The kubelet delays a pod that exits repeatedly for up to five minutes.
	w.answers(t, 6*time.Minute)
	time.Sleep(restAfter)
	w.sample(t)
	w.judge(t)
	w.leftovers(t)
	w.answers(t, 10*time.Second)
	nothingFound(t, l)
}

// nothingFound: a cluster in which only agents were killed has no findings and complete
// coverage.
func nothingFound(t *testing.T, l *lab.Lab) {
	t.Helper()
	out, _, err := stage.Plumbline(t.Context(), l, product.Binary(t), t.TempDir(), "check", "-o", "json", "--wait", "--settle=20s")
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Findings   []struct{ Name, Severity, Summary string }
		NotChecked []struct{ Table, Node, Reason string }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Severity == "warning" || f.Severity == "error" {
			t.Errorf("finding: %s %s: %s", f.Severity, f.Name, f.Summary)
		} else {
			t.Logf("finding: %s %s: %s", f.Severity, f.Name, f.Summary)
		}
	}
	for _, n := range r.NotChecked {
		if n.Node != "" {
			t.Errorf("not checked: %s of %s: %s", n.Table, n.Node, n.Reason)
		}
	}
	t.Logf("check: %d findings, %d tables not checked", len(r.Findings), len(r.NotChecked))
}
