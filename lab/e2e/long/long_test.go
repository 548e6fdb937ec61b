//go:build e2e

package long

import (
	"math/rand/v2"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab/e2e/outside"
)

const (
	cycles = 10
	kills  = 20
)

// TestCycles starts and stops a lab of three nodes ten times in each mode.
func TestCycles(t *testing.T) {
	for _, mode := range []string{"kdd", "etcd"} {
		t.Run(mode, func(t *testing.T) {
			before := outside.Look(t)
			for i := range cycles {
				start := time.Now()
				outside.Must(t, "up", "--name", "cycle", "--nodes", "3", "--datastore", mode)
				up := time.Since(start)
				if up > time.Minute {
					t.Errorf("cycle %d: up took %s", i+1, up)
				}
				outside.Must(t, "down", "--name", "cycle")
				t.Logf("cycle %2d: up %.1f s, down %.1f s", i+1, up.Seconds(), (time.Since(start) - up).Seconds())
				outside.NothingLeft(t, before)
			}
		})
	}
}

// TestKilledAtAnyMoment kills lab up and then removes what exists of the lab.
func TestKilledAtAnyMoment(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	before := outside.Look(t)
	for i := range kills {
		mode := []string{"kdd", "etcd"}[i%2]
		wait := time.Duration(rnd.Int64N(int64(10 * time.Second)))
		if i%4 == 0 {
			wait = time.Duration(rnd.Int64N(int64(50 * time.Millisecond))) // while the namespaces are created
		}
		cmd := outside.Command(t.Context(), t, "up", "--name", "killed", "--nodes", "3", "--datastore", mode)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(wait)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		outside.Must(t, "down", "--name", "killed")
		t.Logf("try %2d: killed after %s in mode %s", i+1, wait.Round(time.Millisecond), mode)
		outside.NothingLeft(t, before)
	}
}

// TestChurn runs churn for five minutes in each mode.
func TestChurn(t *testing.T) {
	for _, mode := range []string{"kdd", "etcd"} {
		t.Run(mode, func(t *testing.T) {
			t.Log(outside.Must(t, "run", "churn", "--datastore", mode, "--for", "5m"))
		})
	}
}
