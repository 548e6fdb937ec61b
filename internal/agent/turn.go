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

// once is one attempt with a time limit. Time counts while the path is open; in the second
// turn, which is the last word on a node, only after this request's turn must have come.
func (f *Fleet) once(parent context.Context, node string, turn int, within time.Duration, ask func(context.Context) error) error {
	p := &f.pace
	if err := p.enter(parent, turn); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	since := clock()
	mine, end := p.begin()
	go func() {
		defer cancel()
		left, shut := within, longer
		for left > 0 && shut > 0 {
			f.ping(ctx, mine) // not at the end: a request of an attempt that is over is cancelled with it
			if observe.Wait(ctx, second) != nil {
				return
			}
			switch open, passed := p.way(mine); {
			case open && (passed || turn == firstTurn):
				left -= second
			case !open:
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

// way reports whether the path to the agents is open, which is that one has answered just
// now, and whether one answered that was asked after this request: before that, what serves
// them may not have come to it yet. With few requests both are assumed.
func (p *pace) way(mine uint64) (open, passed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	few := p.peak < crowd
	return few || p.alive != "" && clock().Sub(p.last) < late, few || p.latest > mine
}

// ping sends a health request to an agent that answered before, if none has answered since
// the attempt looked last, or none that was asked after it: the remaining ones may not
// answer. One that is lost is not yet a path that is shut.
func (f *Fleet) ping(ctx context.Context, mine uint64) {
	p := &f.pace
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.peak >= crowd && p.alive != "" && !p.beats && (clock().Sub(p.last) >= second/2 || p.latest < mine) {
		p.beats = true
		go f.beat(ctx, p.alive, p.next())
	}
}

func (f *Fleet) beat(ctx context.Context, node string, mine uint64) {
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
		p.answered(mine)
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
