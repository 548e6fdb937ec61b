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

// Progress is called when a step begins (zero duration) and ends.
type Progress func(step string, took time.Duration)

// ErrPartFailed means that a part of the lab exited or did not become ready.
var ErrPartFailed = errors.New("part failed")

func partFailed(st supervise.Status, log string, why error) error {
	how := "is running but not ready"
	if !st.Running {
		how = "has exited: " + st.Exit
	}
	var said strings.Builder
	for line := range strings.SplitSeq(lastLines(log, 8), "\n") {
		said.WriteString("\n  " + forTerminal(line))
	}
	return fmt.Errorf("%w: %s %s (%w)\nlast lines of %s:%s", ErrPartFailed, st.Name, how, why, st.Log, said.String())
}

// forTerminal shortens a line of a log and removes terminal control sequences.
func forTerminal(line string) string {
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line)
	if r := []rune(line); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return line
}

const maxShown = 240

// await calls ready until it succeeds. If another part has exited and is not restarted,
// or the time is up, the error has the name of the part and its last log lines.
func await(ctx context.Context, in parts, log func(supervise.Status) string, within time.Duration, part string, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	seen := map[string]time.Time{} // when each part was last running
	for {
		why := ready(ctx)
		if why == nil {
			return nil
		}
		all, err := in.List(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		for _, st := range all {
			if _, known := seen[st.Name]; st.Running || !known {
				seen[st.Name] = time.Now()
			}
			gone := time.Since(seen[st.Name]) > goneFor && !st.Down
			if gone || (ctx.Err() != nil && st.Name == part) {
				return partFailed(st, log(st), why)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// await waits for a part of the control plane.
func (l *Lab) await(ctx context.Context, part string, ready func(context.Context) error) error {
	return await(ctx, l.sup, func(st supervise.Status) string {
		b, _ := os.ReadFile(st.Log)
		return string(b)
	}, readyTimeout, part, ready)
}

// await waits for a part of the node.
func (n *Node) await(ctx context.Context, part string, ready func(context.Context) error) error {
	return await(ctx, n.sup, func(st supervise.Status) string {
		text, err := n.ReadLog(context.WithoutCancel(ctx), st.Name)
		if err != nil {
			return err.Error()
		}
		return text
	}, n.lab.Scale(readyTimeout), part, ready)
}

// goneFor is longer than a restart of a part takes.
const goneFor = 2 * time.Second

const readyTimeout = 90 * time.Second

// Eventually retries until ok returns no error, and returns its last error when the time
// is up: the last that came before, since what the end of the time interrupted says nothing.
func Eventually(ctx context.Context, within time.Duration, ok func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var before error
	for {
		err := ok(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil && before != nil {
			err = fmt.Errorf("%w; the last try was interrupted", before)
		}
		before = err
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", within, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// together runs the functions concurrently and returns the first error.
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
