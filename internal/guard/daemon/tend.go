package daemon

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

const (
	tendEvery    = 5 * time.Second
	adoptEvery   = 20 * time.Second
	collectFirst = time.Minute
	collectEvery = 10 * time.Minute
	tendPatience = time.Minute // for everything except the replay
)

// A tend is the state of the worker that adopts, collects and replays.
type tend struct {
	next    time.Time
	adopt   time.Time
	collect time.Time
	replay  time.Time // not before
	waits   string    // why the first queued DEL waited, at the last replay
	failed  error     // error of the last adoption
	said    string
}

// tends adopts, collects, and runs the queued DELs.
func (k *daemon) tends(ctx context.Context) {
	t, now := &k.tend, k.Now()
	if now.Before(t.next) && now.After(t.next.Add(-tendEvery)) {
		return
	}
	t.next = now.Add(tendEvery)
	if t.collect.IsZero() {
		t.collect = now.Add(collectFirst)
	}
	err := k.owners(ctx, now)
	err = errors.Join(err, k.queue(ctx, now))
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != t.said {
		k.Log.Info("attachments", "error", text)
		t.said = text
	}
}

// owners does the work that needs the runtime's sandboxes.
func (k *daemon) owners(ctx context.Context, now time.Time) error {
	t, s := &k.tend, k.at()
	if !s.on || s.network == "" || s.ifName == "" {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, tendPatience)
	defer stop()
	if due(now, t.adopt, adoptEvery) {
		t.adopt = now.Add(adoptEvery)
		t.failed = k.adopts(ctx, &s, now)
	}
	if due(now, t.collect, collectEvery) {
		t.collect = now.Add(collectEvery)
		text := k.collects(ctx, &s, now)
		k.say(func(r *guard.Report) {
			if r.GC != text {
				k.Log.Info("garbage collection", "result", text)
			}
			r.GC = text
		})
	}
	return t.failed
}

// due reports whether a time has come, also if the clock was set back.
func due(now, at time.Time, every time.Duration) bool {
	return !now.Before(at) || now.Before(at.Add(-every))
}

// sandboxes returns all sandboxes of the runtime. Some may be without details.
func (k *daemon) sandboxes(ctx context.Context) ([]model.Sandbox, error) {
	all, err := k.Sandboxes(ctx)
	if errors.Is(err, observe.ErrPartial) {
		return all, nil
	}
	return all, err
}

// sinceBoot returns the time that the queue uses, in seconds after boot; no clock setting
// changes it.
func sinceBoot() (int64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return 0, err
	}
	return t.Sec, nil
}
