package controller

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/controller/objects"
	"plumbline.dev/plumbline/internal/kube/own"
	"plumbline.dev/plumbline/internal/observe"
)

// A publisher writes findings as objects, and Events about them, one after the other.
type publisher struct {
	store *own.Store
	log   *slog.Logger
	wrote func() // is called when all is written, or something was

	answerNext func(ctx context.Context) bool // writes what has time, and reports whether there was something

	mu   sync.Mutex
	want []v1alpha1.Finding
	news *news
	call chan struct{}

	queue  *queue        // of run alone
	relist time.Duration // how often all is read again: others may have deleted or created some
	listed time.Duration // when that was; of run alone
}

func newPublisher(store *own.Store, log *slog.Logger, have []v1alpha1.Finding, wrote func()) *publisher {
	return &publisher{store: store, log: log, wrote: wrote, news: newNews(have), call: make(chan struct{}, 1), queue: newQueue(have), relist: refreshAfter, listed: observe.Uptime()}
}

// publish takes over what is to be written.
func (p *publisher) publish(want []v1alpha1.Finding, told []objects.Transition) {
	p.mu.Lock()
	p.want = want
	p.news.take(told, want)
	p.mu.Unlock()
	select {
	case p.call <- struct{}{}:
	default:
	}
}

// run writes until ctx ends, which is when another may write. Nothing is written before the first
// publish: what an earlier leader wrote stays until something is known. Objects and Events take turns.
func (p *publisher) run(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-p.call:
	}
	for turn := 0; ctx.Err() == nil; turn++ {
		did := false
		if turn%2 == 0 {
			did = p.tellNext(ctx) || p.writeNext(ctx)
		} else {
			did = p.writeNext(ctx) || p.tellNext(ctx)
		}
		pause := betweenWrites
		if !did {
			p.wrote()
			if observe.Uptime()-p.listed >= p.relist {
				p.list(ctx)
			}
			if !p.answerNext(ctx) {
				pause = time.Second
			}
		}
		if observe.Wait(ctx, pause) != nil {
			return
		}
	}
}

func (p *publisher) tellNext(ctx context.Context) bool {
	now := observe.Uptime()
	p.mu.Lock()
	t, ok := p.news.next(p.queue.have, now)
	p.mu.Unlock()
	if !ok {
		return false
	}
	f := p.queue.have[t.Object]
	err := p.store.Tell(ctx, &f, t.Bad, t.State, t.Says, time.Now()) //nolint:forbidigo // for people; nothing is judged by it
	if err != nil && ctx.Err() == nil {
		p.log.Warn("event not created", "finding", t.Object, "error", err)
	}
	p.mu.Lock()
	p.news.done(t, now) // also if it failed: an object says more than an Event
	p.mu.Unlock()
	return true
}

func (p *publisher) writeNext(ctx context.Context) bool {
	p.mu.Lock()
	want := p.want
	p.mu.Unlock()
	j, ok := p.queue.next(want, observe.Uptime())
	if !ok {
		return false
	}
	name := j.object.Name
	switch err := p.write(ctx, j); {
	case err == nil:
		p.queue.done(name, observe.Uptime())
		p.wrote()
	case ctx.Err() == nil:
		p.queue.failed(name, observe.Uptime())
		p.failed(ctx, name, err)
	}
	return true
}

// write makes one write; a new object is written twice, because its status is a resource of its own.
func (p *publisher) write(ctx context.Context, j job) error {
	name := j.object.Name
	switch j.action {
	case remove:
		if err := p.store.Delete(ctx, &j.object); err != nil {
			return err
		}
		delete(p.queue.have, name)
		p.log.Info("finding deleted", "finding", name)
		return nil
	case create:
		made, err := p.store.Create(ctx, &j.object)
		if err != nil {
			return err
		}
		p.queue.have[name] = *made
		if err := observe.Wait(ctx, betweenWrites); err != nil {
			return err
		}
		j.object = from(&j.object, made)
	case update, refresh:
	}
	wrote, err := p.store.SetStatus(ctx, &j.object)
	if err != nil {
		return err
	}
	p.queue.have[name] = *wrote
	if j.action != refresh {
		p.log.Info("finding written", "finding", name, "state", wrote.Status.State, "count", wrote.Status.Count)
	}
	return nil
}

// failed reads everything again if somebody else has changed an object.
func (p *publisher) failed(ctx context.Context, name string, err error) {
	p.log.Warn("finding not written", "finding", name, "error", err)
	if !errors.Is(err, own.ErrConflict) && !errors.Is(err, observe.ErrNotThere) {
		return
	}
	p.list(ctx)
}

// list reads again what is there.
func (p *publisher) list(ctx context.Context) {
	p.listed = observe.Uptime() // also if it fails: it is not tried each second
	all, err := p.store.List(ctx)
	if err != nil {
		p.log.Warn("findings not listed", "error", err)
		return
	}
	p.queue.read(all)
}
