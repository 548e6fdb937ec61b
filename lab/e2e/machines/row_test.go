//go:build e2e

package machines

import (
	"context"
	"testing"
	"time"

	ipamdrift "plumbline.dev/plumbline/lab/scenarios/ipam-drift"
	latedel "plumbline.dev/plumbline/lab/scenarios/late-del"
	"plumbline.dev/plumbline/lab/stage"
)

// TestRow is what the matrix asks of a machine: it is clean, a late DEL on it is told from its
// journal and repaired while its pod goes on running, drift of its IPAM records is repaired, and
// the guard enforces there.
func TestRow(t *testing.T) { t.Run(*kind, matrixRow) }

func matrixRow(t *testing.T) {
	b := start(t, 1)
	kernel, err := b.machine.Exec(t.Context(), "uname", "-r")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("kernel %s", kernel)
	b.connected()
	b.clean()

	harm, err := stage.NewHarm(t.Context(), b.Lab, func(s string) { t.Log(s) })
	if err != nil {
		t.Fatal(err)
	}
	told := func(ctx context.Context) error { return b.toldBy(ctx, "late DEL", "late-del", "etcd1-0") }
	// containerd 2 repeats the DEL of a stopped sandbox before it removes it, and the plugin of 2017 fails it: PL4006 is right until it is replaced.
	b.repaired(&stage.Repair{Harm: harm, Left: []string{"PL4006/late-del/etcd1-0"}}, latedel.Scenario, "etcd1-0", told)
	b.repaired(&stage.Repair{Harm: harm, Left: []string{"PL1005/"}}, ipamdrift.Scenario, "", nil) // overlapping blocks are not repaired

	b.guarded()
	b.podsReady()
	b.connected()
	b.clean()
}

// repaired plays an incident on the machine, and repairs it; a pod that is named lives on.
func (b *bench) repaired(r *stage.Repair, sc stage.Scenario, pod string, found func(context.Context) error) {
	b.t.Helper()
	var was stage.Life
	r.Bin, r.State, r.Settle, r.Risk = b.bin, b.state, 20*time.Second, "destructive"
	r.Before = func(ctx context.Context, s *stage.Stage) (err error) {
		if found != nil {
			if err := found(ctx); err != nil {
				return err
			}
		}
		if pod != "" {
			was, err = s.Life(ctx, pod)
		}
		return err
	}
	r.After = func(ctx context.Context, s *stage.Stage) error {
		if pod == "" {
			return nil
		}
		is, err := s.Life(ctx, pod)
		if err != nil {
			return err
		}
		return stage.Expect(is == was, "%s as it was, %+v, got %+v", pod, was, is)
	}
	o := stage.Options{Tell: func(s string) { b.t.Log(s) }, Check: r.Checker(), Agents: true, On: b.machine.Index}
	if err := stage.Play(b.t.Context(), b.Lab, sc, o); err != nil {
		b.t.Fatal(err)
	}
	if len(r.Plans()) == 0 {
		b.t.Fatalf("%s: nothing was repaired", sc.Name)
	}
}
