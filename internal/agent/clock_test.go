package agent_test

import (
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
)

func TestAhead(t *testing.T) {
	t.Parallel()
	at := func(seconds float64) time.Time { return time.Unix(1e9, 0).Add(time.Duration(seconds * 1e9)) }
	for _, c := range []struct {
		taken, asked, came float64
		want               time.Duration
	}{
		{0, 0, 0, 0},
		{2, 0, 0, 0},                         // less than can be known
		{0, -30, 0, 0},                       // a slow answer
		{-29, -30, 0, 0},                     // that was taken at its beginning
		{600, 0, 1, 599 * time.Second},       // ten minutes ahead
		{-173, 0, 20, -173 * time.Second},    // after a pause
		{-8 * 3600, 0, 1, -8 * time.Hour},    // a zone in the wrong clock
		{3600.9, 0, 0.4, 3600 * time.Second}, // an hour
	} {
		if got := agent.Ahead(at(c.taken), at(c.asked), at(c.came)); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if got := agent.Ahead(at(0), time.Time{}, time.Time{}); got != 0 {
		t.Errorf("without a time of the API server: %s", got)
	}
}
