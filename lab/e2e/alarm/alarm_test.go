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
				if err := w.prepare(ctx, s); err != nil {
					return err
				}
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				done := make(chan error, 1)
				go func() { done <- run(ctx, s) }()
				w.watch(ctx, t, *quiet)
				if err := w.break25(ctx, s); err != nil {
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

// A fault that was created, and its minimum duration.
type fault struct {
	name  string
	begun time.Time // before it was created
	at    time.Time // when it existed
	last  time.Duration
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
	pods       []lab.Pod
	faults     []fault
	rounds     []round
}

const quietPool = "quiet"

// prepare creates eight pods in a separate pool, whose released addresses no other pod
// gets.
func (w *watcher) prepare(ctx context.Context, s *stage.Stage) error {
	// Calico's own IPAM garbage collector would release the leaks before they can be
	// confirmed.
	err := lab.Eventually(ctx, time.Minute, func(context.Context) error {
		_, err := s.Calicoctl(ctx, "patch", "kubecontrollersconfiguration", "default", "-p", `{"spec":{"controllers":{"node":{"leakGracePeriod":"0s"}}}}`)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.Pool(ctx, quietPool, "10.251.0.0/24", 28); err != nil {
		return err
	}
	for i := range 8 {
		p, err := s.Run(ctx, stage.PodSpec{Name: fmt.Sprintf("quiet-%d", i), Node: fmt.Sprintf("node%d", 1+i%3), Annotations: stage.FromPool(quietPool)})
		if err != nil {
			return err
		}
		w.pods = append(w.pods, p)
	}
	return nil
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

const (
	transient = 2 * time.Minute
	slow      = 6 * time.Minute
)

func (w *watcher) add(begun time.Time, name string, last time.Duration) {
	w.faults = append(w.faults, fault{name, begun, time.Now(), last})
}

// break25 creates 25 faults of five kinds.
func (w *watcher) break25(ctx context.Context, s *stage.Stage) error {
	const cidr = "10.244.250.0/26"
	begun := time.Now()
	id := func(i int) string { return fmt.Sprintf("k8s-pod-network.%064x", 0xabc000+i) }
	attributes, held := make([]string, 5), make([]string, 64)
	for i := range held {
		held[i] = "null"
	}
	for i := range attributes {
		if err := s.PutRaw(ctx, stage.HandleObject(id(i), cidr, 1)); err != nil {
			return err
		}
		attributes[i] = fmt.Sprintf(`{"handle_id": %q, "secondary": {"namespace": "churn", "pod": "never-%d", "node": "node1"}}`, id(i), i)
		held[i] = fmt.Sprint(i)
	}
	free := make([]string, 0, 59)
	for i := 5; i < 64; i++ {
		free = append(free, fmt.Sprint(i))
	}
	block := s.BlockObject("10.244.250.0", 26, "["+strings.Join(held, ",")+"]", "["+strings.Join(free, ",")+"]", "["+strings.Join(attributes, ",")+"]")
	if err := s.PutRaw(ctx, block); err != nil {
		return err
	}
	for i := range 5 {
		w.add(begun, fmt.Sprintf("PL1001/10.244.250.%d", i), slow)
	}
	for i := range 8 {
		begun = time.Now()
		if err := s.PutRaw(ctx, stage.HandleObject(id(100+i), cidr, 1)); err != nil {
			return err
		}
		w.add(begun, "PL1006/"+id(100+i), transient)
	}
	for i := range 4 {
		begun = time.Now()
		if err := s.PutRaw(ctx, s.AffinityObject(fmt.Sprintf("gone%d", i), fmt.Sprintf("10.244.251.%d", 64*i), 26)); err != nil {
			return err
		}
		w.add(begun, fmt.Sprintf("PL1007/gone%d/10.244.251.%d/26", i, 64*i), slow)
	}
	for _, p := range w.pods[:4] {
		begun = time.Now()
		if _, err := s.Calicoctl(ctx, "ipam", "release", "--ip="+p.Status.PodIP); err != nil {
			return err
		}
		w.add(begun, "PL1002/"+p.Status.PodIP, transient)
	}
	for _, p := range w.pods[4:] {
		begun = time.Now()
		var err error
		if s.Datastore == lab.KDD {
			_, err = s.Kubectl(ctx, "-n", s.Namespace, "annotate", "--overwrite", "pod", p.Metadata.Name, "cni.projectcalico.org/podIP=", "cni.projectcalico.org/podIPs=")
		} else {
			wep := p.Spec.NodeName + "-k8s-" + strings.ReplaceAll(p.Metadata.Name, "-", "--") + "-eth0"
			_, err = s.Calicoctl(ctx, "delete", "workloadendpoint", wep, "-n", s.Namespace)
		}
		if err != nil {
			return err
		}
		w.add(begun, "PL2001/"+s.Namespace+"/"+p.Metadata.Name, slow)
	}
	return nil
}

// judge compares every round with the created faults and their times.
func (w *watcher) judge(t *testing.T) {
	theirs, ours := 0, 0
	for _, r := range w.rounds {
		var n int
		if _, err := fmt.Sscan(r.theirs, &n); err == nil && (len(w.faults) == 0 || r.start.Before(w.faults[0].begun)) {
			theirs += n
			ours += len(r.names)
		}
		for _, name := range r.names {
			i := slices.IndexFunc(w.faults, func(f fault) bool { return f.name == name })
			switch {
			case i < 0:
				t.Errorf("%s: %s is not a created fault", r.start.Format("15:04:05"), name)
			case r.start.Before(w.faults[i].begun.Add(w.faults[i].last - time.Second)): // times are truncated to seconds
				t.Errorf("%s: %s was confirmed after %s, want %s", r.start.Format("15:04:05"), name, r.start.Sub(w.faults[i].begun), w.faults[i].last)
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
func (w *watcher) confirmed(t *testing.T, f fault) {
	first := slices.IndexFunc(w.rounds, func(r round) bool { return r.start.After(f.at) })
	if first < 0 {
		t.Errorf("no round after %s was created", f.name)
		return
	}
	due := slices.IndexFunc(w.rounds, func(r round) bool {
		return r.start.After(w.rounds[first].start.Add(w.rounds[first].seen + f.last + time.Second))
	})
	if due < 0 {
		t.Errorf("no round late enough for %s", f.name)
		return
	}
	for _, r := range w.rounds[due:] {
		if !slices.Contains(r.names, f.name) {
			t.Errorf("%s: %s, created %s before, is not confirmed", r.start.Format("15:04:05"), f.name, r.start.Sub(f.at).Round(time.Second))
		}
	}
}
