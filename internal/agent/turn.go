package agent

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How long one waits for an answer, from when it was asked for. Only the time counts in
// which the way to the agents is open.
const (
	within = 5 * time.Second
	longer = 12 * time.Second // for one who was late in a crowd, when that is over
	crowd  = 8                // from so many on, one may be late because of the others
	turns  = 5                // at most, of one who says that the API server is busy
)

// turn asks one agent when it may be asked. One that did not answer while many were asked
// is asked once more, after all the others: it may have been us, or the API server. One that
// says that it is this is asked a few times more.
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
		case sleep(ctx, min(wait, nothing)) != nil:
			return err
		}
		slow := busy || errors.As(err, new(lateError))
		again := f.once(ctx, node, secondTurn, longer, func(ctx context.Context) error {
			if !slow && !p.some() {
				return err // all refuse: they need not say so twice
			}
			return ask(ctx)
		})
		if errors.Is(again, errNobody) {
			return err
		}
		err = again
	}
}

// once is one turn, of so long.
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
		for left > 0 && shut > 0 && sleep(ctx, second) == nil {
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

// open tells that the way to the agents is: somebody has answered just now. When nobody has
// for a while, because those who are still asked are silent, one who lives is asked how he
// is. Where few are asked it is taken to be.
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

// crowded tells that many are asked, or were since nobody was.
func (p *pace) crowded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peak >= crowd
}

// some tells that somebody has answered.
func (p *pace) some() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.alive != ""
}

// A lateError says how long was waited in vain.
type lateError time.Duration

func (e lateError) Error() string { return fmt.Sprintf("no answer in %s", time.Duration(e)) }

// retryAfter tells that a server wants to be left alone, and for how long.
func retryAfter(err error) (time.Duration, bool) {
	var b interface{ RetryAfter() time.Duration }
	if !errors.As(err, &b) {
		return 0, false
	}
	return b.RetryAfter(), true
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
