//go:build e2e

package machines

import (
	"context"
	"testing"
	"time"

	ipamdrift "plumbline.dev/plumbline/lab/scenarios/ipam-drift"
	latedel "plumbline.dev/plumbline/lab/scenarios/late-del"
	stuckterminating "plumbline.dev/plumbline/lab/scenarios/stuck-terminating"
	"plumbline.dev/plumbline/lab/stage"
)

// TestLateDEL: on a machine, whose kubelet and containerd log to journald only, timeline tells
// through the agents the same story as on a namespace node.
func TestLateDEL(t *testing.T) {
	b := start(t, 1)
	b.play(latedel.Scenario, func(ctx context.Context, _ *stage.Stage, moment string, _ []string) error {
		if moment != "released" {
			return nil
		}
		return b.toldBy(ctx, "late DEL", "late-del", "etcd1-0")
	})
}

// TestStuckTerminating: the same for pods that cannot be killed, and the check finds why.
func TestStuckTerminating(t *testing.T) {
	b := start(t, 1)
	found := stage.NewChecker(b.bin, b.state, 20*time.Second)
	b.play(stuckterminating.Scenario, func(ctx context.Context, s *stage.Stage, moment string, want []string) error {
		if err := found(ctx, s, moment, want); err != nil || moment != "held" {
			return err
		}
		for _, pod := range []string{"reader", "threads", "zombie"} {
			if err := b.toldBy(ctx, "teardown blocked", "stuck-terminating", pod); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestIPAMDrift: the same findings as on namespace nodes; what is wrong in IPAM is in no log.
func TestIPAMDrift(t *testing.T) {
	b := start(t, 1)
	b.play(ipamdrift.Scenario, stage.NewChecker(b.bin, b.state, 20*time.Second))
}

// play plays an incident on the machine.
func (b *bench) play(sc stage.Scenario, look stage.Checker) {
	b.t.Helper()
	o := stage.Options{Tell: func(s string) { b.t.Log(s) }, Check: look, Keep: true, Agents: true, On: b.machine.Index}
	if err := stage.Play(b.t.Context(), b.Lab, sc, o); err != nil {
		b.t.Error(err)
	}
}
