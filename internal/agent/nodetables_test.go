package agent

import (
	"errors"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// TestCompareClocks: a frame that was on its way for long, or that waited here, proves nothing.
func TestCompareClocks(t *testing.T) {
	t.Parallel()
	type frame struct {
		taken, asked, came float64
		want               time.Duration
	}
	for name, frames := range map[string][]frame{
		"frames come late":             {{0, 0, 7, 0}, {20, 0, 45, 0}, {50, 0, 50, 0}},
		"ten seconds behind":           {{-10, 0, 0, -10 * time.Second}, {20, 0, 30, -10 * time.Second}, {40, 0, 70, -10 * time.Second}},
		"behind, more is known later":  {{-10, 0, 5, -10 * time.Second}, {24, 0, 30, -6 * time.Second}, {40, 0, 70, -6 * time.Second}},
		"behind, and set right":        {{-600, 0, 0, -600 * time.Second}, {60, 0, 60, 0}, {90, 0, 97, 0}},
		"an hour ahead":                {{3600, 0, 0, 3600 * time.Second}, {3620, 0, 20, 3600 * time.Second}},
		"ahead, and set right":         {{3600, 0, 0, 3600 * time.Second}, {20, 0, 26, 0}},
		"set back while it is watched": {{0, 0, 0, 0}, {-100, 0, 20, -100 * time.Second}, {-40, 0, 80, -100 * time.Second}},
		"behind, watched again":        {{-10, 0, 0, -10 * time.Second}, {99, 100, 107, -8 * time.Second}},
	} {
		n := nodeTables{}
		at := func(seconds float64) time.Time { return time.Unix(1e9, 0).Add(time.Duration(seconds * 1e9)) }
		for i, f := range frames {
			if n.compareClocks(at(f.taken), at(f.asked), at(f.came)); n.ahead != f.want {
				t.Errorf("%s, frame %d: %s, want %s", name, i, n.ahead, f.want)
			}
		}
	}
}

// A clock that is set back while it is watched is measured anew, by another watch.
func TestTakeAfterSetBack(t *testing.T) {
	t.Parallel()
	n := &nodeTables{node: "n1"}
	now := time.Unix(1e9, 0)
	take := func(taken time.Time, whole bool) error {
		return n.take(&Frame{Schema: model.Schema, Node: "n1", Start: "s", Seq: n.seq + 1, Taken: model.At(taken), Whole: whole}, now, now)
	}
	if err := errors.Join(take(now, true), take(now.Add(time.Minute), false), take(now.Add(time.Minute-clockSlack), false)); err != nil {
		t.Fatal(err)
	}
	if err := take(now.Add(-15*time.Minute), false); !errors.Is(err, errFrame) {
		t.Errorf("set back by a quarter of an hour: %v", err)
	}
	if err := take(now.Add(-15*time.Minute), true); err != nil {
		t.Errorf("the next watch: %v", err)
	}
}
