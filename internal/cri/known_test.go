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

// A shim that answers slowly, as gVisor's on a busy node, is asked once: the read does not wait
// for it, and a later one has its answer.
func TestLateIsAskedOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked, answer := 0, make(chan struct{})
	ask := func(context.Context, string) (int, error) {
		mu.Lock()
		asked++
		mu.Unlock()
		<-answer
		return 7, nil
	}
	var k known[int]
	slow := key{"slow", 1}
	for range 3 {
		began := time.Now() //nolint:forbidigo // the duration is what is tested
		found, _, err := k.all(t.Context(), []key{slow}, ask)
		if len(found) != 0 || !errors.Is(err, observe.ErrPartial) || time.Since(began) > time.Minute {
			t.Errorf("%v, %v after %s", found, err, time.Since(began))
		}
	}
	close(answer)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { //nolint:forbidigo // a limit
		found, _, err := k.all(t.Context(), []key{slow}, ask)
		if err == nil && found[slow] == 7 {
			break
		}
		if time.Now().After(end) { //nolint:forbidigo // a limit
			t.Fatalf("%v, %v", found, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}
