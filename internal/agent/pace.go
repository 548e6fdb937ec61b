package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// How many agents are asked at once. Requests go through the API server, whose proxy to
// pods has no priority and no queue, so the client limits itself.
const (
	beginWith = 32  // before any agent has answered
	fewest    = 4   // lower bound, however slow answers are
	most      = 192 // upper bound, however fast

	quick   = time.Second      // duration of an undisturbed answer
	late    = 2 * time.Second  // a request is late after this; a late one among others that are not gives up its slot
	nothing = 20 * time.Second // without any answer at all: the remaining agents are not asked
)

var errNobody = fmt.Errorf("not asked: no agent answered for %s", nothing)

// A pace limits concurrent requests: it doubles the limit after a round of quick answers
// and halves it after a round of late ones. A request that is late while others are not is
// slow because of its own node and gives its slot to the next; while all are late no
// further request is sent. The zero value is ready. mu guards all fields.
//
// Invariants: limits[0] <= limit <= limits[1]; asking <= limit except after limit was
// lowered; every channel in lines belongs to one waiting request and is closed when it is
// admitted.
type pace struct {
	mu     sync.Mutex
	limit  int
	limits [2]int             // lower and upper bound of limit
	asking int                // requests that hold a slot
	lines  [2][]chan struct{} // waiting requests; and those that wait for a second attempt, after all first ones

	inside, peak int       // requests asking or waiting, now and at most, since there were none
	heard        time.Time // when the last answer came; before any, when the first request arrived
	alive        string    // node whose answer came last, preferably a quick one
	last         time.Time // when any node answered last, or alive answered a health request
	beats        bool      // a health request to alive is running
	sent         uint64    // requests so far, also for health
	latest       uint64    // the last sent one of those that were answered

	round       round
	flows       bool      // in the last round most answers were not late
	rest, quiet time.Time // until when a busy server asked not to be called; and until when no request is admitted
}

// A round counts answers by duration, and open requests that are late.
type round struct{ fast, fair, slow, open int }

// arrive is called before a request's first attempt, depart after its last.
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

// The two queues of attempts.
const (
	firstTurn = iota
	secondTurn
)

// enter waits for a slot.
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
	} else { // it was admitted at this moment
		p.asking--
		p.admit()
	}
	return why
}

// admit admits as many requests as the limit allows. The caller holds mu.
func (p *pace) admit() {
	if clock().Before(p.quiet) {
		return // hush calls admit again when quiet ends
	}
	for turn := range p.lines {
		for p.asking < p.limit && len(p.lines[turn]) > 0 {
			close(p.lines[turn][0])
			p.lines[turn] = p.lines[turn][1:]
			p.asking++
		}
	}
}

// begin is called with a slot when the request is sent; the returned end when it is over.
func (p *pace) begin() (mine uint64, end func(node string, err error)) {
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
	mine = p.next()
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
	return mine, func(node string, err error) {
		t.Stop()
		p.mu.Lock()
		defer p.mu.Unlock()
		leave()
		if err == nil {
			p.answered(mine)
		}
		p.note(node, err, clock().Sub(since))
		p.judge()
	}
}

// next numbers a request in the order of sending. The caller holds mu.
func (p *pace) next() uint64 {
	p.sent++
	return p.sent
}

// answered notes that any node answered a request, also one for health. The caller holds mu.
func (p *pace) answered(request uint64) {
	p.last, p.latest = clock(), max(p.latest, request)
}

// note counts the result of a request. Errors do not count, because they say nothing about
// the API server, except that it is busy. The caller holds mu.
func (p *pace) note(node string, err error, took time.Duration) {
	wait, busy := retryAfter(err)
	if err == nil {
		p.heard = clock()
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

// judge sets the limit at the end of a round, which is as many results as the limit. The
// caller holds mu.
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
		case r.open >= p.limit && p.limit > beginWith: // no answers: possibly the nodes themselves
			p.limit = max(p.limit/2, beginWith)
		}
		p.round = round{}
	}
	p.admit()
}

// hush stops admitting while a server asks for it. It is only called if most answers were
// slow: one busy node among others that answer does not stop all. The caller holds mu.
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

// clock is only used for durations.
func clock() time.Time { return time.Now() } //nolint:forbidigo // the time of day is never used
