//go:build e2e

package upgrade

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

var (
	from  = flag.String("from", "3.30", "version of Calico before the upgrade")
	to    = flag.String("to", "3.31", "version of Calico after it")
	quiet = flag.Duration("quiet", time.Minute, "how long each state of the upgrade lasts")
)

func TestMain(m *testing.M) { lab.Main(m) }

// TestUpgrade upgrades Calico node by node, with agents and guard, while pods start and end, and
// checks every 20 s: nothing false is confirmed, a fault is not repaired while versions are mixed
// and is repaired afterwards, and pods go on talking.
func TestUpgrade(t *testing.T) {
	for _, mode := range stage.Both {
		t.Run(string(mode), func(t *testing.T) {
			l := lab.Start(t, lab.Config{Nodes: 2, Datastore: mode, Calico: *from})
			product.InstallGuard(t, l)
			u := &upgrade{t: t, bin: product.Binary(t), state: t.TempDir()}
			sc := stage.Scenario{Name: "upgrade", Title: "Calico is upgraded node by node", Nodes: 2, Modes: stage.Both, Run: u.run}
			if err := stage.Play(t.Context(), l, sc, stage.Options{Keep: true, Tell: func(s string) { t.Log(s) }}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

type upgrade struct {
	t          *testing.T
	bin, state string
	fault      string // the only finding that may be confirmed, beside the mixed versions
	checks     int
	pods       atomic.Int64 // started and ended
}

func (u *upgrade) run(ctx context.Context, s *stage.Stage) (err error) {
	harm, err := stage.NewHarm(ctx, s.Lab, s.Tell)
	if err != nil {
		return err
	}
	victim, err := u.victim(ctx, s)
	if err != nil {
		return err
	}
	u.fault = "PL1002/" + victim.Status.PodIP
	if err := s.Release(ctx, victim); err != nil {
		return err
	}
	if err := harm.Start(ctx, []string{u.fault}); err != nil {
		return err
	}
	churning, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- u.churn(churning, s) }()
	err = u.upgraded(ctx, s)
	stop()
	err = errors.Join(err, <-ended)
	_, lost := harm.Stop(ctx)
	s.Say("%d checks, %d pods started and ended meanwhile", u.checks, u.pods.Load())
	return errors.Join(err, lost, stage.Expect(u.pods.Load() > 5, "pods to start and end, got %d", u.pods.Load()))
}

// victim starts a pod in a pool of its own: no other pod gets its address when it is released.
func (u *upgrade) victim(ctx context.Context, s *stage.Stage) (lab.Pod, error) {
	if err := s.Pool(ctx, "quiet", "10.251.0.0/24", 28); err != nil {
		return lab.Pod{}, err
	}
	return s.Run(ctx, stage.PodSpec{Name: "victim", Node: "node2", Annotations: stage.FromPool("quiet")})
}

// upgraded goes through all states of the upgrade.
func (u *upgrade) upgraded(ctx context.Context, s *stage.Stage) error {
	if err := u.watch(ctx, s); err != nil {
		return err
	}
	if err := s.UpgradeCalico(ctx, *to); err != nil {
		return err
	}
	nodes, err := s.RunningNodes(ctx)
	if err != nil {
		return err
	}
	for i, n := range nodes {
		s.Say("%s is upgraded", n.Name)
		if err := n.UpgradeCalico(ctx); err != nil {
			return err
		}
		if i == len(nodes)-1 {
			break
		}
		if err := u.refused(ctx, s); err != nil {
			return err
		}
		if err := u.watch(ctx, s); err != nil {
			return err
		}
	}
	if err := u.watch(ctx, s); err != nil {
		return err
	}
	r := &stage.Repair{Bin: u.bin, State: u.state, Settle: 3 * time.Second, Risk: "disruptive", Churns: true, Args: []string{u.fault}}
	return r.All(ctx, s)
}

// watch checks every 20 s for a while.
func (u *upgrade) watch(ctx context.Context, s *stage.Stage) error {
	for end := time.Now().Add(*quiet); time.Now().Before(end); {
		began := time.Now()
		r, err := stage.CheckWith(ctx, s.Lab, u.bin, u.state)
		if err != nil {
			return err
		}
		u.checks++
		wrong := slices.DeleteFunc(r.Names(), func(name string) bool { return name == u.fault || strings.HasPrefix(name, "PL9005/") })
		s.Say("confirmed %q, %d unconfirmed", r.Names(), len(r.Unconfirmed))
		if err := stage.Expect(len(wrong) == 0, "nothing false to be confirmed, got %q", wrong); err != nil {
			return err
		}
		time.Sleep(time.Until(began.Add(20 * time.Second)))
	}
	return nil
}

// refused requires that the fault is not repaired because of the mixed versions.
func (u *upgrade) refused(ctx context.Context, s *stage.Stage) error {
	return lab.Eventually(ctx, time.Minute, func(ctx context.Context) error { // agents read the plugins every ten seconds
		out, code, err := stage.Plumbline(ctx, s.Lab, u.bin, u.state, "plan", u.fault, "--settle=3s", "--accept-version=the test wants to know")
		if err != nil {
			return err
		}
		return stage.Expect(code == 1 && strings.Contains(out, "Calico is being upgraded"), "the plan to be refused, got %d:\n%s", code, out)
	})
}

// churn starts and ends pods on both nodes.
func (u *upgrade) churn(ctx context.Context, s *stage.Stage) error {
	for i := 0; ctx.Err() == nil; i++ {
		name := fmt.Sprintf("churn-%d", i)
		_, err := s.Run(ctx, stage.PodSpec{Name: name, Node: fmt.Sprintf("node%d", 1+i%2)})
		if err == nil {
			err = s.Delete(ctx, name)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		u.pods.Add(1)
	}
	return nil
}
