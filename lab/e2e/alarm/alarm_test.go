//go:build e2e

package alarm

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/scenarios/churn"
	"plumbline.dev/plumbline/lab/stage"
)

func TestMain(m *testing.M) { lab.Main(m) }

var (
	quiet  = flag.Duration("quiet", 10*time.Minute, "how long the churn runs without a fault")
	faulty = flag.Duration("faulty", 10*time.Minute, "how long it runs with faults")
)

const between = 20 * time.Second

// TestNoFalseAlarm checks a churning cluster every 20 s: first without a fault, when no
// check may confirm a finding; then with 25 faults, each of which must be confirmed by
// the first check that starts after its class's minimum duration, by none before, and
// nothing else.
func TestNoFalseAlarm(t *testing.T) {
	for _, mode := range stage.Both {
		t.Run(string(mode), func(t *testing.T) {
			l := lab.Start(t, lab.Config{Nodes: 3, Datastore: mode})
			product.InstallAgents(t, l)
			w := &watcher{l: l, bin: product.Binary(t), state: t.TempDir()}
			sc := churn.Scenario
			run := sc.Run
			sc.Run = func(ctx context.Context, s *stage.Stage) error {
				pods, err := churn.Quiet(ctx, s)
				if err != nil {
					return err
				}
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				done := make(chan error, 1)
				go func() { done <- run(ctx, s) }()
				w.watch(ctx, t, *quiet)
				if w.faults, err = churn.Break(ctx, s, pods); err != nil {
					return err
				}
				w.watch(ctx, t, *faulty)
				cancel()
				<-done // the test was stopped in the middle of the churn
				return nil
			}
			if err := stage.Play(t.Context(), l, sc, stage.Options{Keep: true, For: time.Hour, Tell: func(s string) { t.Log(s) }}); err != nil {
				t.Fatal(err)
			}
			w.judge(t)
		})
	}
}

type round struct {
	start     time.Time
	seen      time.Duration // duration of the check
	names     []string
	suspected int
	theirs    string // what calicoctl ipam check counts
}

type watcher struct {
	l          *lab.Lab
	bin, state string
	faults     []churn.Fault
	rounds     []round
}

var problems = regexp.MustCompile(`found (\d+) problems`)

// watch checks every 20 s.
func (w *watcher) watch(ctx context.Context, t *testing.T, d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		r := round{start: time.Now(), theirs: "-"}
		rep, err := stage.CheckWith(ctx, w.l, w.bin, w.state)
		if err != nil {
			t.Logf("check: %v", err) // the churn delays the API server now and then
		} else {
			r.names, r.suspected, r.seen = rep.Names(), len(rep.Unconfirmed), time.Since(r.start)
			// A node that joins or leaves is not covered for a moment, and the report states that.
			r.names = slices.DeleteFunc(r.names, func(n string) bool { return strings.HasPrefix(n, "PL9001/") })
			if out, err := w.l.Calicoctl(ctx, "ipam", "check"); err == nil {
				if m := problems.FindStringSubmatch(out); m != nil {
					r.theirs = m[1]
				}
			}
			w.rounds = append(w.rounds, r)
			t.Logf("%s  confirmed %d, unconfirmed %d; calicoctl ipam check: %s problems", r.start.Format("15:04:05"), len(r.names), r.suspected, r.theirs)
			if w.faults == nil {
				for _, f := range rep.Findings {
					t.Logf("          %s: %s %s", f.Name, f.Summary, f.Evidence)
				}
			}
		}
		if wait := between - time.Since(r.start); wait > 0 {
			time.Sleep(wait)
		}
	}
}

// judge compares every round with the created faults and their times.
func (w *watcher) judge(t *testing.T) {
	theirs, ours := 0, 0
	for _, r := range w.rounds {
		var n int
		if _, err := fmt.Sscan(r.theirs, &n); err == nil && (len(w.faults) == 0 || r.start.Before(w.faults[0].Begun)) {
			theirs += n
			ours += len(r.names)
		}
		for _, name := range r.names {
			i := slices.IndexFunc(w.faults, func(f churn.Fault) bool { return f.Name == name })
			switch {
			case i < 0:
				t.Errorf("%s: %s is not a created fault", r.start.Format("15:04:05"), name)
			case r.start.Before(w.faults[i].Begun.Add(w.faults[i].Settles - time.Second)): // times are truncated to seconds
				t.Errorf("%s: %s was confirmed after %s, want %s", r.start.Format("15:04:05"), name, r.start.Sub(w.faults[i].Begun), w.faults[i].Settles)
			}
		}
	}
	for _, f := range w.faults {
		w.confirmed(t, f)
	}
	t.Logf("without a fault, over all rounds: check confirmed %d, calicoctl ipam check counted %d problems", ours, theirs)
}

// confirmed: the duration is known from the API server's timestamps, or from our own
// wait since the end of the first check that could report the fault.
func (w *watcher) confirmed(t *testing.T, f churn.Fault) {
	first := slices.IndexFunc(w.rounds, func(r round) bool { return r.start.After(f.At) })
	if first < 0 {
		t.Errorf("no round after %s was created", f.Name)
		return
	}
	due := slices.IndexFunc(w.rounds, func(r round) bool {
		return r.start.After(w.rounds[first].start.Add(w.rounds[first].seen + f.Settles + time.Second))
	})
	if due < 0 {
		t.Errorf("no round late enough for %s", f.Name)
		return
	}
	for _, r := range w.rounds[due:] {
		if !slices.Contains(r.names, f.Name) {
			t.Errorf("%s: %s, created %s before, is not confirmed", r.start.Format("15:04:05"), f.Name, r.start.Sub(f.At).Round(time.Second))
		}
	}
}
