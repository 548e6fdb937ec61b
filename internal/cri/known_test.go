package cri

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"plumbline.dev/plumbline/internal/observe"
)

// What was told is not asked for again, what was silent is asked for last, what is gone
// is not kept.
func TestKnown(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	answers := map[string]error{"silent": status.Error(codes.DeadlineExceeded, "x"), "went": status.Error(codes.NotFound, "x")}
	ask := func(_ context.Context, id string) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, id)
		return len(id), answers[id]
	}
	var k known[int]
	look := func(ids ...string) (map[key]int, map[key]bool, error) {
		asked = nil
		var keys []key
		for _, id := range ids {
			keys = append(keys, key{id, 1})
		}
		return k.all(t.Context(), keys, ask)
	}
	found, gone, err := look("silent", "went", "a")
	if len(found) != 1 || found[key{"a", 1}] != 1 || len(gone) != 1 || !gone[key{"went", 1}] {
		t.Errorf("%v, %v", found, gone)
	}
	if !errors.Is(err, observe.ErrPartial) || !strings.HasPrefix(err.Error(), "1 of 3 without their details, as silent: ") {
		t.Errorf("%v", err)
	}
	delete(answers, "silent")
	if _, _, err := look("silent", "a", "b"); err != nil || !slices.Equal(sorted(asked), []string{"b", "silent"}) {
		t.Errorf("asked %q, %v", asked, err)
	}
	if len(k.of) != 3 || len(k.late) != 0 {
		t.Errorf("%v, %v", k.of, k.late)
	}
	if _, _, err := look("b"); err != nil || asked != nil || len(k.of) != 1 {
		t.Errorf("asked %q, keeps %v, %v", asked, k.of, err)
	}
	if _, _, err := k.all(t.Context(), []key{{"b", 0}}, ask); err != nil || !slices.Equal(asked, []string{"b"}) {
		t.Errorf("in another state: asked %q, %v", asked, err)
	}
}

// A shim that answers slowly, as gVisor's on a busy node, is waited for longer the next time;
// many that hang share the time.
func TestLateIsWaitedForLonger(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	k := known[int]{late: map[key]bool{{"slow", 1}: true}}
	for _, c := range []struct {
		id          string
		late        int
		least, most time.Duration
	}{
		{"new", 1, onePatience, onePatience},
		{"slow", 1, 2 * time.Second, 3 * time.Second},
		{"slow", 2 * askers, time.Second, 1500 * time.Millisecond},
		{"slow", 100 * askers, onePatience, onePatience},
	} {
		if got := k.patience(ctx, key{c.id, 1}, c.late); got < c.least || got > c.most {
			t.Errorf("%s, %d late: %s", c.id, c.late, got)
		}
	}
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}
