//go:build e2e

package repair

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/scenarios/churn"
	"plumbline.dev/plumbline/lab/stage"
)

var (
	rounds    = flag.Int("rounds", 3, "rounds of six faults each, repaired under churn, in each mode")
	eachRound = flag.Duration("each-round", 90*time.Second, "how long the churn lasts, for each round")
)

// TestChurn breaks and repairs records while pods start and end as fast as they can and
// Calico's IPAM garbage collector runs with a short grace period: no pod may lose its
// address or get another pod's.
func TestChurn(t *testing.T) {
	for _, mode := range stage.Both {
		// In a large block a released address is not the next to be assigned: a pod that gets
		// another's address was then harmed by the repair, not by the fault.
		c := lab.Config{Nodes: 2, Datastore: mode, BlockSize: 24}
		t.Run(string(mode), func(t *testing.T) { onFaults(t, c, "under-churn", underChurn) })
	}
}

func underChurn(ctx context.Context, r *stage.Repair, l *victims) error {
	if err := stage.CollectorGrace(ctx, l.s, time.Minute); err != nil {
		return err
	}
	ended := make(chan error, 1)
	lasts := time.Duration(*rounds) * *eachRound
	go func() {
		ended <- stage.Play(ctx, l.s.Lab, churn.Scenario, stage.Options{Tell: l.s.Tell, For: lasts, Keep: true})
	}()
	began, n := time.Now(), 0
	outcomes := map[string]int{}
	for ; time.Since(began) < lasts; n++ {
		if err := churned(ctx, r, l, n, outcomes); err != nil {
			return errors.Join(fmt.Errorf("round %d: %w", n+1, err), <-ended)
		}
		if len(ended) > 0 {
			break
		}
	}
	l.s.Say("%d rounds under churn, steps: %v", n, outcomes)
	if err := <-ended; err != nil { // it requires that calicoctl ipam check reports nothing, too
		return fmt.Errorf("churn: %w", err)
	}
	return errors.Join(stage.Expect(n >= *rounds, "%d rounds, got %d", *rounds, n), r.All(ctx, l.s), l.recorded(ctx), stage.NoProblems(ctx, l.s))
}

// churned is one round: break, plan, apply, check.
func churned(ctx context.Context, r *stage.Repair, l *victims, n int, outcomes map[string]int) error {
	if err := l.broken(ctx, n); err != nil {
		return err
	}
	// The API may be slow, a node may be joining: then it is retried, as a person would do.
	err := lab.Eventually(ctx, 3*time.Minute, func(ctx context.Context) error {
		return l.repaired(ctx, r, outcomes)
	})
	return errors.Join(err, l.unharmed(ctx), l.s.Unique(ctx))
}

// repaired plans and applies once, and then requires correct records of the running
// pods.
func (l *victims) repaired(ctx context.Context, r *stage.Repair, outcomes map[string]int) error {
	if _, err := stage.CheckWith(ctx, l.s.Lab, r.Bin, r.State, "--wait", "--settle="+r.Settle.String()); err != nil {
		return err
	}
	file, id, err := r.Plan(ctx, l.s)
	if err != nil {
		return err
	}
	if file != "" {
		out, code, err := stage.Plumbline(ctx, l.s.Lab, r.Bin, r.State, r.Apply("-f", file)...)
		l.s.Say("apply printed (exit code %d, %v)\n%s", code, err, out)
		if code == 4 {
			out, code, err = stage.Plumbline(ctx, l.s.Lab, r.Bin, r.State, r.Apply("--resume", id)...)
			l.s.Say("resumed, apply printed (exit code %d, %v)\n%s", code, err, out)
		}
		if err != nil {
			return err
		}
		count(out, outcomes)
		if outcomes["failed"] > 0 || outcomes["unknown"] > 0 {
			return fmt.Errorf("a conflict did not end in moved: %v", outcomes)
		}
	}
	var all error
	for _, p := range l.pods {
		all = errors.Join(all, l.s.Recorded(ctx, p.Metadata.Name))
	}
	return all
}

// count counts the outcomes of steps, from the lines that apply prints: N/M KIND OUTCOME
// NAME.
func count(out string, outcomes map[string]int) {
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) >= 4 && strings.Contains(f[0], "/") {
			outcomes[f[2]]++
		}
	}
}
