package ownerdb

import (
	"flag"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

var sequences = flag.Int("sequences", 1000, "how many random sequences are played")

// played is how many are played: a tenth with the race detector (-short).
func played() int {
	if testing.Short() {
		return *sequences / 10
	}
	return *sequences
}

var keyings = []guard.Keying{guard.ByName, guard.ByBoth, guard.ByContainer}

// TestConform plays random sequences in enforce: nothing owned is lost, no newer owner is
// touched, nothing released is kept.
func TestConform(t *testing.T) {
	t.Parallel()
	late, window, waited, rash := 0, 0, 0, 0
	for i := range uint64(played()) {
		s := newSim(i, keyings[i%3], guard.Enforce, sanitized())
		s.play()
		late, window = late+s.late, window+s.window
		if len(s.harm) > 0 {
			t.Fatalf("sequence %d, keyed by %s:\n%s\n%s", i, s.keyed, strings.Join(s.harm, "\n"), strings.Join(s.told, "\n"))
		}
		if i%8 != 0 {
			continue
		}
		w := sanitized()
		w.givesWay = false
		r := newSim(i, keyings[i%3], guard.Enforce, w)
		r.play()
		waited, rash = waited+s.window, rash+r.window
	}
	if late < played()/2 {
		t.Errorf("only %d late DELs: too tame", late)
	}
	if waited*4 > rash+4 {
		t.Errorf("%d owners were lost to a DEL that was decided before they began, %d if nobody gives way", waited, rash)
	}
	t.Logf("%d sequences, %d late DELs; %d owners lost to a DEL that was decided before they began; in an eighth of them %d, and %d if nobody gives way", played(), late, window, waited, rash)
}

// TestConformObserve plays the same sequence with and without a guard: in observe nobody
// can tell.
func TestConformObserve(t *testing.T) {
	t.Parallel()
	for i := range uint64(played()) {
		with, without := newSim(i, keyings[i%3], guard.Observe, sanitized()), newSim(i, keyings[i%3], guard.Observe, sanitized())
		without.bare = true
		with.play()
		without.play()
		if !slices.Equal(with.told, without.told) {
			t.Fatalf("sequence %d, keyed by %s: with the guard\n%s\nand without\n%s", i, with.keyed, strings.Join(with.told, "\n"), strings.Join(without.told, "\n"))
		}
	}
}

// TestMutants keeps the model sharp: whatever safety is taken away is seen, as the harm
// that it prevents, in a sequence that is clean with it.
func TestMutants(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(mutants)) {
		t.Run(name, func(t *testing.T) {
			m := sanitized()
			mutants[name](&m)
			harm := regexp.MustCompile(m.harm)
			for i := range uint64(1000) {
				s := newSim(i, m.keyed, guard.Enforce, m)
				s.play()
				at := slices.IndexFunc(s.harm, harm.MatchString)
				if at < 0 {
					continue
				}
				clean := newSim(i, m.keyed, guard.Enforce, sanitized())
				if clean.play(); len(clean.harm) == 0 {
					t.Logf("caught after %d sequences: %s", i+1, s.harm[at])
					return
				}
			}
			t.Error("nothing was seen")
		})
	}
}
