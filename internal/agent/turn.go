package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/observe"
)

// How long to wait for an answer, from when it was requested. Time counts only while the
// path to the agents is open.
const (
	within = 5 * time.Second
	longer = 12 * time.Second // second attempt, for an agent that was late while many were asked
	crowd  = 8                // from this many requests on, an agent may be late because of the others
	turns  = 5                // limit of attempts while the API server reports that it is busy
)

// turn asks one agent when the pace admits it. An agent that did not answer while many were
// asked is asked once more, after all the others: the client or the API server may have
// been the reason. If the API server reports that it is busy, it is asked a few times more.
func (f *Fleet) turn(ctx context.Context, node string, ask func(context.Context) error) error {
	p := &f.pace
	p.arrive(f.AtOnce)
	defer p.depart()
	err := f.once(ctx, node, firstTurn, within, ask)
	for n := 1; ; n++ {
		wait, busy := retryAfter(err)
		switch {
		case err == nil, errors.Is(err, errNobody), ctx.Err() != nil, n == turns, !busy && (n > 1 || !p.crowded()):
			return err
		case observe.Wait(ctx, min(wait, nothing)) != nil:
			return err
		}
		slow := busy || errors.As(err, new(lateError))
		again := f.once(ctx, node, secondTurn, longer, func(ctx context.Context) error {
			if !slow && !p.some() {
				return err // all agents refuse: asking again does not help
			}
			return ask(ctx)
		})
		if errors.Is(again, errNobody) {
			return err
		}
		err = again
	}
}

// once is one attempt with a time limit.
func (f *Fleet) once(parent context.Context, node string, turn int, within time.Duration, ask func(context.Context) error) error {
	p := &f.pace
	if err := p.enter(parent, turn); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	end, since := p.begin(), clock()
	go func() {
		defer cancel()
		left, shut := within, longer
		for left > 0 && shut > 0 && observe.Wait(ctx, second) == nil {
			if f.open(ctx) {
				left -= second
			} else {
				shut -= second
			}
		}
	}()
	err := ask(ctx)
	if err != nil && parent.Err() == nil && ctx.Err() != nil {
		err = lateError(clock().Sub(since).Round(time.Second))
	}
	end(node, err)
	return err
}

const second = time.Second

// open reports whether the path to the agents is open: an agent has answered just now. If
// none has for a while, because the remaining ones do not answer, an agent that answered
// before gets a health request. With few requests the path is assumed open.
func (f *Fleet) open(ctx context.Context) bool {
	p := &f.pace
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.peak < crowd {
		return true
	}
	since := clock().Sub(p.last)
	if p.alive != "" && since >= second && !p.beats {
		p.beats = true
		go f.beat(ctx, p.alive)
	}
	return p.alive != "" && since < late
}

func (f *Fleet) beat(ctx context.Context, node string) {
	ctx, cancel := context.WithTimeout(ctx, late)
	defer cancel()
	body, err := f.Open(ctx, node, PathHealth, nil)
	if err == nil {
		err = body.Close()
	}
	p := &f.pace
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beats = false
	if err == nil {
		p.last = clock()
	}
}

// crowded reports whether many agents are or were asked in this run.
func (p *pace) crowded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peak >= crowd
}

// some reports whether any agent has answered.
func (p *pace) some() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.alive != ""
}

// A lateError is how long was waited without an answer.
type lateError time.Duration

func (e lateError) Error() string { return fmt.Sprintf("no answer in %s", time.Duration(e)) }

// retryAfter reports whether a server is busy, and when to ask again.
func retryAfter(err error) (time.Duration, bool) {
	var b interface{ RetryAfter() time.Duration }
	if !errors.As(err, &b) {
		return 0, false
	}
	return b.RetryAfter(), true
}
