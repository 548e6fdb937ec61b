package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"plumbline.dev/plumbline/lab/supervise"
)

// Progress hears when a step of the work begins (zero duration) and ends.
type Progress func(step string, took time.Duration)

// ErrPartFailed means that a part of the lab ended or did not become ready.
var ErrPartFailed = errors.New("part failed")

func partFailed(st supervise.Status, logPath string, why error) error {
	how := "is running but not ready"
	if !st.Running {
		how = "has ended: " + st.Exit
	}
	b, _ := os.ReadFile(logPath)
	return fmt.Errorf("%w: %s %s (%w)\nlast lines of %s:\n  %s", ErrPartFailed, st.Name, how, why, st.Log,
		strings.ReplaceAll(lastLines(string(b), 12), "\n", "\n  "))
}

// await asks ready until it is. When the part that it depends on has ended and is
// not started again, or time is up, the error tells which part it was and what it
// last said.
func await(ctx context.Context, sup supervise.Client, root, part string, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	lastSeen := time.Now()
	for {
		why := ready(ctx)
		if why == nil {
			return nil
		}
		st, err := sup.Status(context.WithoutCancel(ctx), part)
		if err != nil {
			return err
		}
		if st.Running {
			lastSeen = time.Now()
		}
		if ctx.Err() != nil || time.Since(lastSeen) > 2*time.Second {
			return partFailed(st, root+st.Log, why)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

const readyTimeout = 90 * time.Second

// Eventually asks until ok gives no error, and gives its last error when time is up.
func Eventually(ctx context.Context, within time.Duration, ok func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		err := ok(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", within, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// together runs the functions side by side and gives the first error.
func together(ctx context.Context, fs ...func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	for _, f := range fs {
		wg.Go(func() {
			if err := f(ctx); err != nil {
				once.Do(func() { first = err; cancel(err) })
			}
		})
	}
	wg.Wait()
	return first
}
