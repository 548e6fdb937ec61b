//go:build e2e

package machines

import (
	"context"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
)

// TestPower: a machine that reboots or loses its power comes back with its pods, its
// agent and the guard in mode enforce; nothing is left over that check would find.
func TestPower(t *testing.T) {
	b := start(t, 1)
	b.guarded("enforce")
	b.clean()
	for _, how := range []struct {
		name string
		do   func(*lab.Node, context.Context) error
	}{{"reboot", (*lab.Node).Reboot}, {"power cut", (*lab.Node).PowerCut}} {
		began := time.Now()
		if err := how.do(b.machine, t.Context()); err != nil {
			t.Fatalf("%s: %v", how.name, err)
		}
		t.Logf("%s: boots again after %.0f s", how.name, time.Since(began).Seconds())
		b.eventually("the node", 2*time.Minute, b.machine.Ready)
		b.podsReady()
		b.connected()
		b.guarded("enforce")
		b.clean()
		t.Logf("%s: all is well after %.0f s", how.name, time.Since(began).Seconds())
	}
}
