package executetest

import (
	"flag"
	"strings"
	"testing"
)

var (
	seed   = flag.Uint64("seed", 0, "the run to play again")
	runs   = flag.Int("runs", 5000, "how many seeds")
	from   = flag.Uint64("from", 1, "the first seed")
	only   = flag.String("fault", "", "only this fault")
	broken = flag.String("mutant", "", "without this safety")
)

func flagged() options {
	o := options{Mutant: *broken}
	if *only != "" {
		o.Faults = strings.Split(*only, ",")
	}
	return o
}

// TestSeed plays one run again, and tells what happened.
func TestSeed(t *testing.T) {
	if *seed == 0 {
		*seed = 1
	}
	o := flagged()
	o.Trace = true
	r, err := play(*seed, o)
	if err != nil || testing.Verbose() {
		t.Log(strings.Join(r.w.trace, "\n"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSeedsFound plays again what once went wrong, found by a million runs.
func TestSeedsFound(t *testing.T) {
	for _, seed := range []uint64{
		80455, 234102, // the collector freed first, and what it freed was taken back while it counted the handle down
		271997,           // an address was freed, given to another and freed by the collector, and we took our part back
		1147402,          // a handle was counted for a finding that was refused, while an ADD was about to use it
		1000072, 1006792, // a continued run called a restart done whose calico-node never became Ready
	} {
		if err := runSeed(seed, options{}); err != nil {
			t.Error(err)
		}
	}
}

func TestSeeds(t *testing.T) {
	var s statistics
	bad := 0
	n := uint64(*runs)
	if testing.Short() { // with the race detector
		n /= 20
	}
	for i := range n {
		o := flagged()
		o.Stats = &s
		if err := runSeed(*from+i, o); err != nil {
			t.Error(err)
			if bad++; bad > 20 {
				break
			}
		}
	}
	t.Logf("%+v", s)
}

// TestMutants keeps the simulation sharp: whatever safety is taken away, it is seen, and it
// is seen as the harm that this safety prevents, at a seed that is clean with it.
func TestMutants(t *testing.T) {
	if n := len(mutantNames()); n < 44 {
		t.Errorf("%d mutants", n)
	}
	for _, name := range mutantNames() {
		t.Run(name, func(t *testing.T) {
			for i := range uint64(6000) {
				if yes, err := caught(*from+i, name); yes {
					t.Logf("caught after %d runs: %v", i+1, err)
					return
				}
			}
			t.Error("nothing was seen")
		})
	}
}

// TestSameSeed: a failing seed is worth something only if it fails again.
func TestSameSeed(t *testing.T) {
	for s := range uint64(60) {
		a, _ := play(s, options{Trace: true})
		b, _ := play(s, options{Trace: true})
		if x, y := strings.Join(a.w.trace, "\n"), strings.Join(b.w.trace, "\n"); x != y {
			t.Fatalf("seed %d does not give the same run twice", s)
		}
	}
}
