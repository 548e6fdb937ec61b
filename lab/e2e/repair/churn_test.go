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
	rounds    = flag.Int("rounds", 3, "of six faults each, repaired under churn, in each mode")
	eachRound = flag.Duration("each-round", 90*time.Second, "how long the churn lasts, for each round")
)

// TestChurn breaks and repairs while pods come and go as fast as they can and Calico's
// collector is at work with a short grace: nobody may lose an address or get another's.
func TestChurn(t *testing.T) {
	for _, mode := range stage.Both {
		// In a large block a freed address is not the next to be given out: who gets the
		// address of another is harmed by us, not by the fault.
		c := lab.Config{Nodes: 2, Datastore: mode, BlockSize: 24}
		t.Run(string(mode), func(t *testing.T) { onFaults(t, c, "under-churn", underChurn) })
	}
}

func underChurn(ctx context.Context, r *stage.Repair, l *living) error {
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
	if err := <-ended; err != nil { // it wants Calico's own check to find nothing, too
		return fmt.Errorf("churn: %w", err)
	}
	return errors.Join(stage.Expect(n >= *rounds, "%d rounds, got %d", *rounds, n), r.All(ctx, l.s), l.recorded(ctx), stage.NoProblems(ctx, l.s))
}

// churned is one round: break, plan, apply, look.
func churned(ctx context.Context, r *stage.Repair, l *living, n int, outcomes map[string]int) error {
	if err := l.broken(ctx, n); err != nil {
		return err
	}
	// The API may be slow, a node may just be coming: then it is tried again, as a person would.
	err := lab.Eventually(ctx, 3*time.Minute, func(ctx context.Context) error {
		return l.repaired(ctx, r, outcomes)
	})
	return errors.Join(err, l.unharmed(ctx), l.s.Unique(ctx))
}

// repaired plans and applies once, and wants the living recorded then.
func (l *living) repaired(ctx context.Context, r *stage.Repair, outcomes map[string]int) error {
	if _, err := stage.CheckWith(ctx, l.s.Lab, r.Bin, r.State, "--wait", "--settle="+r.Settle.String()); err != nil {
		return err
	}
	file, id, err := r.Plan(ctx, l.s)
	if err != nil {
		return err
	}
	if file != "" {
		out, code, err := stage.Plumbline(ctx, l.s.Lab, r.Bin, r.State, r.Apply("-f", file)...)
		l.s.Say("apply says (exit code %d, %v)\n%s", code, err, out)
		if code == 4 {
			out, code, err = stage.Plumbline(ctx, l.s.Lab, r.Bin, r.State, r.Apply("--resume", id)...)
			l.s.Say("resumed, apply says (exit code %d, %v)\n%s", code, err, out)
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

// count notes how each step ended, by the lines that apply prints: N/M KIND OUTCOME NAME.
func count(out string, outcomes map[string]int) {
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) >= 4 && strings.Contains(f[0], "/") {
			outcomes[f[2]]++
		}
	}
}
