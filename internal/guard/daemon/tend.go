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
	tendPatience = time.Minute // for all but the replay
)

// A tend is what the worker knows that looks after attachments.
type tend struct {
	next    time.Time
	adopt   time.Time
	collect time.Time
	replay  time.Time // not before
	waits   string    // why the first of the queue did, at the last replay
	failed  error     // of the last adoption
	said    string
}

// tends adopts, collects, and works off the queue.
func (k *Daemon) tends(ctx context.Context) {
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

// owners does what needs the runtime's sandboxes.
func (k *Daemon) owners(ctx context.Context, now time.Time) error {
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
				k.Log.Info("collection", "says", text)
			}
			r.GC = text
		})
	}
	return t.failed
}

// due tells whether a time has come; also if a clock was set back meanwhile.
func due(now, at time.Time, every time.Duration) bool {
	return !now.Before(at) || now.Before(at.Add(-every))
}

// sandboxes asks the runtime for all that it has. Some may be without details.
func (k *Daemon) sandboxes(ctx context.Context) ([]model.Sandbox, error) {
	all, err := k.Sandboxes(ctx)
	if errors.Is(err, observe.ErrPartial) {
		return all, nil
	}
	return all, err
}

// sinceBoot is the time by which the queue goes: no clock setting changes it.
func sinceBoot() (int64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return 0, err
	}
	return t.Sec, nil
}
