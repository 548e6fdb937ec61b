package executetest

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/repair"
)

var (
	edits = flag.Int("edits", 1000, "how many edited plans")
	told  = flag.Bool("told", false, "print what happened in edited plans that did harm")
)

// TestEditedPlans: a plan is a request. Whatever somebody makes of the file, it is refused or does
// no harm.
func TestEditedPlans(t *testing.T) {
	n := *edits
	if testing.Short() { // with the race detector
		n /= 20
	}
	tried, refused, executed, bad := 0, 0, 0, 0
	for seed := *from; tried < n; seed++ {
		rng := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // a seed must give the same edit again
		r, err := playEdited(seed, rng)
		switch {
		case r.plan == nil:
			refused++
		case len(r.plan.Steps) == 0:
			continue // nothing to edit
		default:
			executed++
		}
		tried++
		if err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, strings.Join(r.w.trace, "\n"))
			if bad++; bad > 10 {
				break
			}
		}
	}
	t.Logf("%d edited plans: %d refused before anything was done, %d executed without harm", tried, refused, executed-bad)
	if refused == 0 || executed == 0 {
		t.Error("the edits are all of one kind")
	}
}

// playEdited is play with a plan that was edited.
func playEdited(seed uint64, rng *rand.Rand) (*run, error) {
	r := &run{w: newWorld(seed)}
	w := r.w
	w.traced = *told
	r.mutant, _ = mutantOf("")
	w.build()
	w.breaks(1+w.pick(4), nil)
	w.rate = []int{0, 60, 25}[w.pick(3)]
	w.ticks(w.pick(40))
	r.makePlan()
	if len(r.plan.Steps) == 0 {
		return r, nil
	}
	if r.plan = edited(w, r.plan, rng); r.plan == nil {
		return r, nil
	}
	r.execute()
	if len(r.plan.Steps) == 0 {
		r.plan.Steps = make([]repair.Step, 1) // all were removed
	}
	return r, w.broken
}
