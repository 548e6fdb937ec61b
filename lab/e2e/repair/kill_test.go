//go:build e2e

package repair

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

var kills = flag.Int("kills", 5, "how often apply is killed, in each mode")

// TestKill kills apply at any moment: --resume completes what it began, or undo reverts
// it, and nothing incomplete remains.
func TestKill(t *testing.T) {
	for _, mode := range stage.Both {
		t.Run(string(mode), func(t *testing.T) { onFaults(t, lab.Config{Nodes: 2, Datastore: mode}, "kill", killed) })
	}
}

// onFaults runs f on a cluster whose pods keep running while their records are broken.
func onFaults(t *testing.T, c lab.Config, name string, f func(context.Context, *stage.Repair, *victims) error) {
	l := lab.Start(t, c)
	product.InstallAgents(t, l)
	r := &stage.Repair{Bin: product.Binary(t), State: t.TempDir(), Settle: time.Second, Risk: "disruptive"}
	sc := stage.Scenario{Name: name, Run: func(ctx context.Context, s *stage.Stage) error {
		all, err := startVictims(ctx, s)
		if err != nil {
			return err
		}
		return f(ctx, r, all)
	}}
	if err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }, Keep: true}); err != nil {
		t.Error(err)
		time.Sleep(*keep)
	}
}

func killed(ctx context.Context, r *stage.Repair, l *victims) error {
	// Once without a kill: how long apply runs.
	whole := map[bool]time.Duration{}
	for i, slow := range []bool{false, true} {
		took, _, _, err := interrupted(ctx, r, l, 1000+i, slow, 0)
		if err != nil {
			return err
		}
		if err := l.recorded(ctx); err != nil {
			return err
		}
		whole[slow] = took
		l.s.Say("apply runs for %s, slow: %v", took.Round(time.Millisecond), slow)
	}
	seed := uint64(time.Now().UnixNano())
	l.s.Say("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for i := range *kills {
		slow := i%2 == 1
		part := (float64(i) + rnd.Float64()) / float64(*kills)
		if err := survives(ctx, r, l, i, slow, time.Duration(part*float64(whole[slow]))); err != nil {
			return fmt.Errorf("kill %d of seed %d: %w", i+1, seed, err)
		}
	}
	return nil
}

// interrupted breaks records, plans, and kills the apply after a while; 0 means not at
// all. A slow apply has time between its writes, a quick one is killed in the middle of
// them.
func interrupted(ctx context.Context, r *stage.Repair, l *victims, n int, slow bool, after time.Duration) (took time.Duration, file, id string, err error) {
	if err := l.broken(ctx, n); err != nil {
		return 0, "", "", err
	}
	// Two checks: findings must persist for the minimum duration.
	if _, err := stage.CheckWith(ctx, l.s.Lab, r.Bin, r.State, "--wait", "--settle="+r.Settle.String()); err != nil {
		return 0, "", "", err
	}
	for try := 0; try < 3 && file == ""; try++ { // an agent that is late once leaves nothing to plan
		file, id, err = r.Plan(ctx, l.s)
	}
	if err != nil || file == "" {
		return 0, "", "", fmt.Errorf("no plan: %w", err)
	}
	args := r.Apply("-f", file)
	if slow {
		args = append(args, "--budget=blocks=2,handles=4,others=2")
	}
	cmd := stage.Command(ctx, l.s.Lab, r.Bin, r.State, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, "", "", err
	}
	if after > 0 {
		time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	}
	err = cmd.Wait()
	took = time.Since(began)
	if after > 0 {
		err = nil // it was killed, or has just finished
	}
	l.s.Say("apply of %s ended after %s with %d steps printed\n%s", id, took.Round(time.Millisecond), strings.Count(out.String(), " done "), out.String())
	return took, file, id, err
}

// survives kills once, resumes or undoes the plan, and requires that nothing is
// incomplete.
func survives(ctx context.Context, r *stage.Repair, l *victims, n int, slow bool, after time.Duration) error {
	_, file, id, err := interrupted(ctx, r, l, n, slow, max(after, time.Millisecond))
	if err != nil {
		return err
	}
	// A caller that knows that the holder is gone need not wait until its lease expires.
	if _, err := l.s.Kubectl(ctx, "delete", "lease", "-A", "--field-selector=metadata.name=plumbline-apply", "--ignore-not-found"); err != nil {
		return err
	}
	resume := n%4 < 2
	args := []string{"undo", id}
	if resume {
		args = r.Apply("--resume", id)
	}
	out, code, err := stage.Plumbline(ctx, l.s.Lab, r.Bin, r.State, args...)
	l.s.Say("%s printed (exit code %d, %v)\n%s", strings.Join(args, " "), code, err, out)
	if err != nil && !strings.Contains(err.Error(), " was applied to this cluster from this machine") { // it was killed before it had begun
		return err
	}
	if err != nil {
		out, code, err = stage.Plumbline(ctx, l.s.Lab, r.Bin, r.State, r.Apply("-f", file)...)
		l.s.Say("apply printed (exit code %d, %v)\n%s", code, err, out)
	}
	if err != nil || code > 1 { // 1: something is still reported; whether it goes is looked at below
		return fmt.Errorf("exit code %d: %w", code, err)
	}
	if err := l.unharmed(ctx); err != nil {
		return err
	}
	if resume {
		if err := r.Clean(ctx, l.s.Lab); err != nil {
			return err
		}
		return l.recorded(ctx)
	}
	if err := r.All(ctx, l.s); err != nil { // a reverted repair is a fault again
		return err
	}
	return l.recorded(ctx)
}
