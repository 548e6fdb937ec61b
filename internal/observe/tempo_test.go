package observe_test

import (
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/observe"
)

func TestTempo(t *testing.T) {
	t.Parallel()
	var p observe.Tempo
	limit := func(want time.Duration) {
		t.Helper()
		if got := p.Limit(700*time.Millisecond, 3*time.Second); got != want {
			t.Errorf("limit %s, want %s", got, want)
		}
	}
	limit(700 * time.Millisecond)
	p.Note(10 * time.Millisecond)
	limit(700 * time.Millisecond)
	p.Note(700 * time.Millisecond) // in vain
	limit(1400 * time.Millisecond)
	p.Note(1400 * time.Millisecond) // again
	limit(2800 * time.Millisecond)
	p.Note(time.Hour)
	limit(3 * time.Second)
	for range 40 {
		p.Note(20 * time.Millisecond)
	}
	limit(700 * time.Millisecond)
}
