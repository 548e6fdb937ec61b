package loggen_test

import (
	"flag"
	"testing"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/loggen"
	"plumbline.dev/plumbline/internal/timeline/records"
)

var (
	histories = flag.Int("histories", 39, "how many histories are judged")
	nodes     = flag.Int("nodes", 10, "how many nodes each has")
	from      = flag.Uint64("from", 0, "the first seed")
	shown     = flag.Int("shown", 20, "how many differences are shown")
)

// Required accuracy of each cause: no wrong verdict, and 99 of 100 found of those that the
// remaining lines can show.
const (
	precision = 1
	recall    = 0.99
)

func TestAccuracy(t *testing.T) {
	t.Parallel()
	measured(t, *histories, recall, func(h *loggen.History, _ uint64) []records.Input { return inMemory(t, h) })
}

// TestAccuracyDisguised is the same of logs as nodes in other zones and other programs write them: no
// verdict may be wrong, and fewer may be found. It judges a third as many.
func TestAccuracyDisguised(t *testing.T) {
	t.Parallel()
	measured(t, (*histories+2)/3, 0.75, func(h *loggen.History, seed uint64) []records.Input { return disguised(t, h, seed) })
}

func measured(t *testing.T, histories int, recall float64, inputs func(*loggen.History, uint64) []records.Input) {
	t.Helper()
	all := scores{}
	lines, signal, differ := 0, 0, 0
	if testing.Short() { // with the race detector
		histories = min(histories, 13)
	}
	for seed := *from; seed < *from+uint64(histories); seed++ {
		h, err := loggen.Make(loggen.Default(seed, *nodes))
		if err != nil {
			t.Fatal(err)
		}
		shares := h.Shares()
		lines, signal = lines+shares.Lines, signal+shares.Signal
		l, err := told(t.Context(), inputs(h, seed), h.Begin.Add(h.Lasts))
		if err != nil {
			t.Fatal(err)
		}
		all.hold(h, l, func(s string) {
			if differ++; differ <= *shown {
				t.Log(s)
			}
		})
	}
	t.Logf("%d histories, %d nodes, %d lines, %.2f %% of them of no incident\n%s", histories, *nodes, lines, 100*(1-float64(signal)/float64(lines)), all)
	if float64(signal) > 0.05*float64(lines) {
		t.Errorf("%d of %d lines are of incidents", signal, lines)
	}
	for cause, s := range all {
		if s.precision() < precision || s.recall() < recall {
			t.Errorf("%s: precision %.4f, recall %.4f; want %d and %.2f", cause, s.precision(), s.recall(), precision, recall)
		}
	}
	if len(all) != len(causes) {
		t.Errorf("%d of %d causes were played", len(all), len(causes))
	}
}

// causes are all that there are.
var causes = []timeline.Cause{
	timeline.LateDel, timeline.RetriedDel, timeline.AddressMoved, timeline.AddWithoutDel, timeline.DelNeverCame,
	timeline.TeardownBlocked, timeline.ReleasedInUse, timeline.StaleNodename, timeline.Credential,
}

// TestOnceWrong judges disguised histories of which a verdict was wrong once: 1588 and 2407, in which
// clocks are set back; 1659 and 2199, in which one file has two zones; 2944, in which a zip says that its files are of 1979.
func TestOnceWrong(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1588, 1659, 2199, 2407, 2944} {
		h, err := loggen.Make(loggen.Default(seed, *nodes))
		if err != nil {
			t.Fatal(err)
		}
		l, err := told(t.Context(), disguised(t, h, seed), h.Begin.Add(h.Lasts))
		if err != nil {
			t.Fatal(err)
		}
		all, found := scores{}, 0
		all.hold(h, l, func(s string) { t.Log(s) })
		for cause, s := range all {
			found += s.hit
			if s.wrong > 0 {
				t.Errorf("seed %d: %s: %d wrong", seed, cause, s.wrong)
			}
		}
		if found == 0 {
			t.Errorf("seed %d: nothing was found", seed)
		}
	}
}
