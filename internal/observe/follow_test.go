package observe_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Changes are delivered in order, none is lost, at most 500 at a time, and none waits for
// the next one.
func TestGather(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []observe.Change
		var sizes []int
		g := observe.Gather(func(c []observe.Change) {
			mu.Lock()
			defer mu.Unlock()
			told, sizes = append(told, c...), append(sizes, len(c))
		})
		want := func(what string, batches ...int) {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(sizes, batches) {
				t.Errorf("%s: %v, want %v", what, sizes, batches)
			}
		}
		for i := range 1203 {
			g.Add(observe.Change{Ref: model.Ref{Name: strconv.Itoa(i)}})
		}
		want("at once", 500, 500)
		time.Sleep(4 * time.Millisecond)
		want("after 4 ms", 500, 500, 203)
		g.Add(observe.Change{Ref: model.Ref{Name: "1203"}})
		time.Sleep(time.Millisecond)
		want("before others could come", 500, 500, 203)
		time.Sleep(3 * time.Millisecond)
		g.Add(observe.Change{Ref: model.Ref{Name: "1204"}})
		g.Flush()
		time.Sleep(time.Second)
		want("in the end", 500, 500, 203, 1, 1)
		for i := range told {
			if told[i].Ref.Name != strconv.Itoa(i) {
				t.Fatalf("%d is %s", i, told[i].Ref.Name)
			}
		}
	})
}

func TestGatherFromMany(t *testing.T) {
	t.Parallel()
	last := map[string]int{}
	g := observe.Gather(func(cs []observe.Change) {
		for _, c := range cs {
			n, _ := strconv.Atoi(c.Ref.Name)
			if last[string(c.Ref.Kind)] != n-1 {
				t.Errorf("%s after %d", c.Ref, last[string(c.Ref.Kind)])
			}
			last[string(c.Ref.Kind)] = n
		}
	})
	var wg sync.WaitGroup
	for _, k := range []model.Kind{"a", "b", "c", "d"} {
		wg.Go(func() {
			for i := range 5_000 {
				g.Add(observe.Change{Ref: model.Ref{Kind: k, Name: strconv.Itoa(i + 1)}})
			}
		})
	}
	wg.Wait()
	g.Flush()
	for k, n := range last {
		if n != 5_000 {
			t.Errorf("%s: %d told", k, n)
		}
	}
}

// A broken watch resumes, respects Retry-After, and gives up after two minutes.
func TestResume(t *testing.T) {
	t.Parallel()
	lost := errors.New("lost")
	synctest.Test(t, func(t *testing.T) {
		tries, begun := 0, time.Now() //nolint:forbidigo // the test's own clock
		err := observe.Resume(t.Context(), func(context.Context, func()) (bool, error) {
			tries++
			return false, &observe.Broken{Err: lost}
		})
		if took := time.Since(begun); !errors.Is(err, lost) || took < 2*time.Minute || took > 2*time.Minute+10*time.Second || tries > 40 {
			t.Errorf("%v after %s and %d tries", err, took, tries)
		}
		tries, begun = 0, time.Now() //nolint:forbidigo // the test's own clock
		err = observe.Resume(t.Context(), func(context.Context, func()) (bool, error) {
			if tries++; tries == 1000 {
				return true, observe.ErrGone
			}
			return true, &observe.Broken{Err: lost}
		})
		if took := time.Since(begun); !errors.Is(err, observe.ErrGone) || took > time.Minute {
			t.Errorf("a watch with events: %v after %s", err, took)
		}
		tries, begun = 0, time.Now() //nolint:forbidigo // the test's own clock
		err = observe.Resume(t.Context(), func(_ context.Context, opened func()) (bool, error) {
			if tries++; tries == 100 {
				return false, lost
			}
			opened()
			time.Sleep(9 * time.Minute) // no event, but the watch was open
			return false, &observe.Broken{Err: lost, After: 7 * time.Second}
		})
		if took := time.Since(begun); err == nil || took != 99*(9*time.Minute+7*time.Second) {
			t.Errorf("a quiet one: %v after %s", err, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = observe.Resume(ctx, func(context.Context, func()) (bool, error) { return true, &observe.Broken{Err: lost, After: time.Hour} })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the end: %v", err)
		}
	})
}

// A server that takes long to refuse a watch, or takes it and says nothing, is not one that has nothing to
// tell: what was read would count as current for ever.
func TestResumeOfHungServer(t *testing.T) {
	t.Parallel()
	lost := errors.New("lost")
	for name, c := range map[string]struct {
		once  func(opened func()) error
		most  time.Duration
		tries int
	}{
		"etcd does not answer":              {func(func()) error { time.Sleep(10 * time.Second); return lost }, 150 * time.Second, 5},
		"refused after a wait in the queue": {func(func()) error { time.Sleep(15 * time.Second); return lost }, 150 * time.Second, 5},
		"taken after half a minute, closed": {func(opened func()) error { time.Sleep(30 * time.Second); opened(); return lost }, 190 * time.Second, 3},
		"taken, and silent":                 {func(opened func()) error { opened(); time.Sleep(3 * time.Minute); return observe.ErrSilent }, 7 * time.Minute, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun, tries := time.Now(), 0 //nolint:forbidigo // the test's own clock
			err := observe.Resume(t.Context(), func(_ context.Context, opened func()) (bool, error) {
				if tries++; tries > 1000 {
					return false, errors.New("for ever")
				}
				return false, &observe.Broken{Err: c.once(opened)}
			})
			if took := time.Since(begun); took > c.most || tries < c.tries || !errors.Is(err, lost) && !errors.Is(err, observe.ErrSilent) {
				t.Errorf("%s: %v after %s and %d tries", name, err, took, tries)
			}
		})
	}
}

func TestTogether(t *testing.T) {
	t.Parallel()
	err := observe.Together(t.Context(), observe.UntilEnd, func(context.Context) error { return observe.ErrGone }, observe.UntilEnd)
	if !errors.Is(err, observe.ErrGone) {
		t.Errorf("the first error ends all: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := observe.Together(ctx, observe.UntilEnd); !errors.Is(err, context.Canceled) {
		t.Errorf("the end: %v", err)
	}
}
