package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// How many agents are asked at once. The way to them leads through the API server, which
// holds nobody back there: requests into pods have no priority and no queue. So we hold
// back ourselves.
const (
	beginWith = 32  // before anybody has answered
	fewest    = 4   // however slow it goes
	most      = 192 // however quick

	quick   = time.Second      // an answer, if nothing is in its way
	late    = 2 * time.Second  // from then on it is; who is so while others are not holds up nobody
	nothing = 20 * time.Second // without any answer from anybody: the rest is not asked
)

var errNobody = fmt.Errorf("not asked: no agent had answered for %s", nothing)

// A pace is how many are asked at once: twice as many after a round of quick answers, half
// as many after one of late ones. Whoever is late while others are not is so by himself, and
// gives his turn to the next; where all are late nobody is asked on top of them. The zero
// value is ready.
type pace struct {
	mu     sync.Mutex
	limit  int
	limits [2]int // the least and the most that it may be
	asking int
	lines  [2][]chan struct{} // who waits for his turn; and who for his second, after all of those

	inside, peak int       // who asks or waits, now and at most, since there was nobody
	heard        time.Time // when somebody answered; before that, when the first came
	alive        string    // who answered last, and soon
	last         time.Time // when anybody did, or he said that he is well
	beats        bool      // he is being asked

	round       round
	flows       bool      // in the last one, most answers were not late
	rest, quiet time.Time // until when a busy server asks to be left alone, and is
}

// A round is answers by how long they took, and those who are late with theirs.
type round struct{ fast, fair, slow, open int }

// arrive is called before a first turn, depart after the last.
func (p *pace) arrive(atMost int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inside++; p.inside == 1 {
		if atMost <= 0 {
			atMost = most
		}
		p.limits = [2]int{min(fewest, atMost), atMost}
		p.limit = min(beginWith, atMost)
		p.heard, p.peak, p.alive, p.flows = clock(), 0, "", false
		p.round = round{}
	}
	p.peak = max(p.peak, p.inside)
}

func (p *pace) depart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inside--
}

// The two turns that one may have.
const (
	firstTurn = iota
	secondTurn
)

// enter waits for a turn.
func (p *pace) enter(ctx context.Context, turn int) error {
	left := p.patience()
	if left <= 0 {
		return errNobody
	}
	me := make(chan struct{})
	p.mu.Lock()
	p.lines[turn] = append(p.lines[turn], me)
	p.admit()
	p.mu.Unlock()
	t := time.NewTimer(left)
	defer t.Stop()
	for {
		select {
		case <-me:
			return nil
		case <-ctx.Done():
			return p.giveUp(me, turn, ctx.Err())
		case <-t.C:
			if left = p.patience(); left <= 0 {
				return p.giveUp(me, turn, errNobody)
			}
			t.Reset(left)
		}
	}
}

func (p *pace) patience() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return nothing - clock().Sub(p.heard)
}

func (p *pace) giveUp(me chan struct{}, turn int, why error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := slices.Index(p.lines[turn], me); at >= 0 {
		p.lines[turn] = slices.Delete(p.lines[turn], at, at+1)
	} else { // it was let in at this moment
		p.asking--
		p.admit()
	}
	return why
}

// admit lets in as many as may ask. The lock is held.
func (p *pace) admit() {
	if clock().Before(p.quiet) {
		return // whoever has set it will call again
	}
	for turn := range p.lines {
		for p.asking < p.limit && len(p.lines[turn]) > 0 {
			close(p.lines[turn][0])
			p.lines[turn] = p.lines[turn][1:]
			p.asking++
		}
	}
}

// begin is called with a turn, when the question is sent, and the end that it gives when
// it is over.
func (p *pace) begin() (end func(node string, err error)) {
	since, gone, counted := clock(), false, false
	leave := func() {
		if !gone {
			gone = true
			p.asking--
		}
	}
	var t *time.Timer
	p.mu.Lock()
	defer p.mu.Unlock()
	t = time.AfterFunc(late, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case gone:
			return
		case p.flows && clock().Sub(p.heard) < quick:
			leave()
		default:
			t.Reset(late)
		}
		if !counted {
			counted = true
			p.round.open++
		}
		p.judge()
	})
	return func(node string, err error) {
		t.Stop()
		p.mu.Lock()
		defer p.mu.Unlock()
		leave()
		p.note(node, err, clock().Sub(since))
		p.judge()
	}
}

// note counts what came of a question. An error says nothing of the way there, unless it
// is that the server is busy. The lock is held.
func (p *pace) note(node string, err error, took time.Duration) {
	wait, busy := retryAfter(err)
	if err == nil {
		p.heard, p.last = clock(), clock()
		if p.alive == "" || took <= quick {
			p.alive = node
		}
	}
	switch {
	case busy:
		p.round.slow++
		if until := clock().Add(min(wait, nothing)); until.After(p.rest) {
			p.rest = until
		}
	case err != nil:
	case took <= quick:
		p.round.fast++
	case took <= late:
		p.round.fair++
	default:
		p.round.slow++
	}
}

// judge sets the limit anew at the end of a round, which is as many outcomes as there may
// be at once. The lock is held.
func (p *pace) judge() {
	r := p.round
	if r.fast+r.fair+r.slow+r.open >= p.limit {
		p.flows = r.fast+r.fair > r.slow
		switch {
		case r.fast > r.fair+r.slow:
			p.limit = min(2*p.limit, p.limits[1])
		case r.slow > r.fast+r.fair:
			p.limit = max(p.limit/2, p.limits[0])
			p.hush()
		case r.open >= p.limit && p.limit > beginWith: // nobody answers: that may be the nodes themselves
			p.limit = max(p.limit/2, beginWith)
		}
		p.round = round{}
	}
	p.admit()
}

// hush leaves a server alone that wants it. One node that says so among others that answer
// is not believed for all. The lock is held.
func (p *pace) hush() {
	now := clock()
	if !p.rest.After(now) || p.quiet.After(now) {
		return
	}
	p.quiet, p.heard = p.rest, p.rest
	time.AfterFunc(p.rest.Sub(now), func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.admit()
	})
}

// clock is only for the time that passes.
func clock() time.Time { return time.Now() } //nolint:forbidigo // the hour is never used
