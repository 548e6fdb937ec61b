package host

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How a mount was found not to answer.
const (
	byProbe   = "probe"
	byWaiting = "fuse waiting"
	byStats   = "mountstats"
)

// Bounds of one read.
const (
	atOnce     = 16              // concurrent child processes
	askWithin  = 5 * time.Second // for all of them
	askMargin  = 200 * time.Millisecond
	askedEvery = 10 * time.Second // one that answered, and has no waiting requests, is not asked again before
)

// A verdict is whether a file system answers. An error is an answer: silent means only that
// requests wait.
type verdict struct {
	silent  bool
	how     string
	waiting int
}

// errUnasked means that some file systems could not be asked.
var errUnasked = errors.New("file systems that could not be asked")

// ask determines for each device whether it answers: from outside, and if that is
// inconclusive, by a child process. The error reports those that could not be asked.
func (h *Host) ask(ctx context.Context, vols []volume) (map[string]verdict, error) {
	at := h.now()
	h.children.reap(h.note) // answers to an earlier read
	out := map[string]verdict{}
	var queue []*volume
	for i := range vols {
		v := &vols[i]
		device := v.device()
		if _, done := out[device]; done {
			continue
		}
		a := h.fromOutside(v, at)
		out[device] = a
		last, answered := h.alive[device]
		fresh := answered && at-last < askedEvery && a.waiting == 0
		// One that already hangs is not asked a second time.
		if !a.silent && !fresh && h.children[device] == nil {
			queue = append(queue, v)
		}
	}
	err := h.await(ctx, queue)
	unasked := 0
	for device, a := range out {
		c := h.children[device]
		last, answered := h.alive[device]
		switch {
		case a.silent:
		case c != nil && c.waits(h.now()):
			a.silent, a.how = true, byProbe
			out[device] = a
		case c != nil, !answered, at-last >= askedEvery:
			unasked++
		}
	}
	h.killLate()
	if unasked > 0 {
		err = also(fmt.Errorf("%w: %d", errUnasked, unasked), err)
	}
	return out, err
}

// await asks with child processes, some at a time, and waits for them: for each as long as
// it may take, and in total no longer than a read may take.
func (h *Host) await(ctx context.Context, queue []*volume) error {
	until := h.now() + askWithin
	if deadline, ok := ctx.Deadline(); ok { // a later result would be lost
		until = min(until, h.now()+time.Until(deadline)-askMargin)
	}
	mine := map[string]bool{}
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		h.children.reap(h.note)
		busy := 0
		for device := range mine {
			if c := h.children[device]; c != nil && !c.waits(h.now()) {
				busy++
			}
		}
		for ; len(queue) > 0 && busy < atOnce; busy++ {
			v := queue[0]
			if err := h.children.start(v.device(), v.target, v.major, v.minor); err != nil {
				return err
			}
			queue, mine[v.device()] = queue[1:], true
		}
		if busy == 0 || h.now() >= until || !pauseFor(ctx, pause) {
			return nil
		}
	}
}

// note records the result of a child. One that was killed, or found nothing there, has no
// result.
func (h *Host) note(device string, code int) {
	if code == probeAnswered {
		h.alive[device] = h.now()
		delete(h.nfs, device)
	}
}

// killLate kills the children that have not returned in time, if they can be killed.
func (h *Host) killLate() {
	late := children{}
	for device, c := range h.children {
		if c.waits(h.now()) {
			late[device] = c
		}
	}
	late.kill()
}
