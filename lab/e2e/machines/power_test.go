//go:build e2e

package machines

import (
	"context"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// TestPower: a machine that reboots or loses its power comes back with its pods, its
// agent and the guard in mode enforce; nothing is left over that check would find.
func TestPower(t *testing.T) {
	b := start(t, 1)
	b.guarded()
	b.clean()
	for _, how := range []struct {
		name string
		do   func(*lab.Node, context.Context) error
	}{{"reboot", (*lab.Node).Reboot}, {"power cut", (*lab.Node).PowerCut}} {
		began, before := time.Now(), b.restarts()
		if err := how.do(b.machine, t.Context()); err != nil {
			t.Fatalf("%s: %v", how.name, err)
		}
		t.Logf("%s: boots again after %.0f s", how.name, time.Since(began).Seconds())
		b.eventually("the node", 2*time.Minute, b.machine.Ready)
		b.eventually("the pod's container", 2*time.Minute, func(context.Context) error { // until then its old status stands
			return stage.Expect(b.restarts() != before, "another number of restarts than %s", before)
		})
		b.podsReady()
		b.connected()
		b.guarded()
		b.clean()
		t.Logf("%s: all is well after %.0f s", how.name, time.Since(began).Seconds())
	}
}

// restarts tells how often the container of the machine's pod was started again.
func (b *bench) restarts() string {
	out, err := b.Kubectl(b.t.Context(), "-n", namespace, "get", "pod", "on-"+b.machine.Name, "-o", "jsonpath={.status.containerStatuses[*].restartCount}")
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}
