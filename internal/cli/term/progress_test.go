package term

import (
	"strings"
	"testing"
	"time"
)

// How long the rest takes follows from what is done, and is not said before a few seconds show it.
func TestRemaining(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		elapsed time.Duration
		n, of   int
		want    string
	}{
		{2 * time.Second, 10, 1000, ""},
		{10 * time.Second, 250, 1250, ", about 40s left"},
		{30 * time.Second, 250, 1250, ", about 2m0s left"},
		{40 * time.Second, 1250, 1250, ""},
		{5 * time.Second, 0, 10, ", about 50s left"},
	} {
		if got := remaining(c.elapsed, c.n, c.of); got != c.want {
			t.Errorf("%d of %d after %s: %q, want %q", c.n, c.of, c.elapsed, got, c.want)
		}
	}
}

func TestStepMeter(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	m := &StepMeter{what: "step", w: &out, began: time.Now()} //nolint:forbidigo // a person waits
	m.Clear()
	m.Tell(3, 1250)
	m.Clear()
	m.Clear()
	if got := out.String(); got != "\r\x1b[Kstep 3 of 1,250\r\x1b[K" {
		t.Errorf("%q", got)
	}
	(&StepMeter{}).Tell(1, 2) // a pipe
}
