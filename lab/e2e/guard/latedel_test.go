//go:build e2e

package guard

import (
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab"
	latedel "plumbline.dev/plumbline/lab/scenarios/late-del"
	legacyhandle "plumbline.dev/plumbline/lab/scenarios/legacy-handle"
	"plumbline.dev/plumbline/lab/stage"
)

// TestLateDel runs the late DEL with the guard: with a plugin of 2017 that finds
// endpoints by name.
func TestLateDel(t *testing.T) {
	each(t, latedel.Scenario, latedel.Guarded, "etcd1-0", "name")
}

// TestLegacyHandle runs it on plain Calico 3.31.
func TestLegacyHandle(t *testing.T) {
	each(t, legacyhandle.Scenario, legacyhandle.Guarded, "web-0", "both")
}

// each runs an incident in every mode of Calico and of the guard: in observe as without
// a guard, in enforce as its guarded variant.
func each(t *testing.T, observed, enforced stage.Scenario, pod, keyed string) {
	for _, store := range stage.Both {
		for mode := range strings.SplitSeq(*modes, ",") {
			for runtime := range strings.SplitSeq(*runtimes, ",") {
				t.Run(strings.Join([]string{string(store), mode, runtime}, "/"), func(t *testing.T) {
					sc := observed
					if mode == "enforce" {
						sc = enforced
					}
					l := start(t, lab.Config{Nodes: sc.Nodes, Datastore: store, Containerd: runtime}, mode)
					if err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
						t.Fatal(err)
					}
					judged(t, l, mode, pod, keyed)
				})
			}
		}
	}
}

// judged requires the late DEL in the event log: passed on in observe, with the loss;
// not passed to Calico's plugin in enforce, and nothing lost.
func judged(t *testing.T, l *lab.Lab, mode, pod, keyed string) {
	t.Helper()
	n, err := l.Node(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	lost := false
	for _, e := range eventually(t, n, "a late DEL of "+pod, func(e event) bool { return e.Late && e.Pod == pod }) {
		t.Log(e)
		if e.Verb != "DEL" || e.Keyed != keyed || (e.Rule != 5 && e.Rule != 9) || e.Called != (mode == "observe") || e.Mode != mode || len(e.Trouble) > 0 {
			t.Errorf("in mode %s, with %s: %+v", mode, keyed, e)
		}
		lost = lost || len(e.Lost) > 0
	}
	if lost && mode == "enforce" {
		t.Error("records of the new owner were lost")
	}
	t.Logf("a loss was recorded: %v", lost)
	r, err := reported(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", r)
	if r.Late == 0 || (r.Stopped > 0) != (mode == "enforce") {
		t.Errorf("the guard daemon counts %d late, %d stopped", r.Late, r.Stopped)
	}
}
