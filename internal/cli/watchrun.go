package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// How often is done what rests on more than one change.
const (
	showEvery = time.Second     // what changed is shown
	anewEvery = 5 * time.Second // all is judged anew, at most
)

// aside is what goes on beside the changes, one of each at a time.
type background struct {
	whole  chan *audit.Whole
	reread chan *audit.Second
	read   chan reading
	busy   struct{ whole, look, read bool }
	judged time.Time // all, last
	dirty  bool      // something is to be shown
}

// A reading is what was read again.
type reading struct {
	s      *model.Snapshot
	facts  bool   // nodes were asked, now or before
	agents *fleet // nil if there are none
	err    error
}

// run is the one place that judges: changes, and what was done aside, come to it.
func (w *watchLoop) run(ctx context.Context, changes <-chan []observe.Change, ended <-chan error) error {
	a := &background{whole: make(chan *audit.Whole, 1), reread: make(chan *audit.Second, 1), read: make(chan reading, 1)}
	w.anew(a)
	show, poll := time.NewTicker(showEvery), time.NewTicker(every)
	defer show.Stop()
	defer poll.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case err = <-ended:
			if err == nil {
				err = errors.New("the changes are told no longer")
			}
		case cs := <-changes:
			err = w.apply(cs, changes, a)
		case whole := <-a.whole:
			news := w.live.Adopt(whole, w.now())
			if !w.adopted {
				news, w.adopted = w.printed.sinceBefore(w.live.Findings()), true
			}
			w.say(news, time.Time{}, a)
			a.busy.whole, a.dirty = false, true
			if !w.shown {
				w.live.Hurry(w.now())
			}
			w.reread(ctx, a)
		case second := <-a.reread:
			w.live.Settle(second)
			a.busy.look, a.dirty, w.shown = false, a.dirty || !w.shown || w.live.Certain(), true
			w.show(a)
			w.remember()
		case r := <-a.read:
			a.busy.read = false
			err = w.take(r, a)
		case <-poll.C:
			w.readAgain(ctx, a)
		case <-show.C:
			w.say(w.live.Judge(w.now()), time.Time{}, a)
			w.reread(ctx, a)
			w.show(a)
		}
		if err != nil {
			return err
		}
		if w.live.Stale() && !a.busy.whole && time.Since(a.judged) > anewEvery {
			w.anew(a)
		}
	}
}

// apply takes what changed, with what is there behind it.
func (w *watchLoop) apply(cs []observe.Change, more <-chan []observe.Change, a *background) error {
	for len(cs) < maxBatch {
		select {
		case next := <-more:
			cs = append(cs, next...)
			continue
		default:
		}
		break
	}
	for len(cs) > 0 {
		n := min(len(cs), maxBatch)
		news, err := w.live.Apply(cs[:n], w.now())
		if err != nil {
			return err
		}
		w.say(news, cs[0].At, a)
		cs = cs[n:]
	}
	return nil
}

// say notes that there is something to show. Suspicions come and go by the dozen, and are
// told to who asks for it: when each was judged, and how long after it was heard of.
func (w *watchLoop) say(n audit.News, at time.Time, a *background) {
	a.dirty = a.dirty || w.live.Certain() // to tell what all suspicions come to takes as long as there are many
	w.printed.note(n)
	if !w.g.verbose {
		return
	}
	now := time.Now() //nolint:forbidigo // for the person who reads it; nothing is judged by it
	took := ""
	if !at.IsZero() {
		took = fmt.Sprintf(", %.1f ms after the change", float64(now.Sub(at).Microseconds())/1000)
	}
	for _, k := range n.Raised {
		fmt.Fprintf(w.g.Stderr, "%s suspected %s%s\n", now.Local().Format(toTheMilli), line(k), took)
	}
	for _, k := range n.Cleared {
		fmt.Fprintf(w.g.Stderr, "%s cleared %s%s\n", now.Local().Format(toTheMilli), line(k), took)
	}
}

const toTheMilli = "15:04:05.000"

func (w *watchLoop) show(a *background) {
	if w.shown && a.dirty {
		w.printed.changes(w.live.Report(w.now()))
		a.dirty = false
	}
}

// anew judges all, beside the changes.
func (w *watchLoop) anew(a *background) {
	whole := w.live.Anew(w.now())
	a.busy.whole, a.judged = true, time.Now() //nolint:forbidigo // compared with itself alone
	go func() {
		whole.Judge()
		a.whole <- whole
	}()
}

// reread reads suspects a second time, beside the changes.
func (w *watchLoop) reread(ctx context.Context, a *background) {
	if a.busy.look || a.busy.whole && !w.shown {
		return
	}
	second := w.live.Reread(w.now(), w.src)
	if second == nil {
		if !w.shown && !a.busy.whole {
			w.shown, a.dirty = true, true
		}
		return
	}
	a.busy.look = true
	go func() {
		second.Run(ctx)
		a.reread <- second
	}()
}
