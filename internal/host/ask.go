package host

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How a mount was found silent.
const (
	byProbe   = "probe"
	byWaiting = "fuse waiting"
	byStats   = "mountstats"
)

// Bounds on one look.
const (
	atOnce     = 16              // children asking
	askWithin  = 5 * time.Second // for all of them
	askMargin  = 200 * time.Millisecond
	askedEvery = 10 * time.Second // who has answered, and keeps nobody waiting, is left alone
)

// A verdict is whether a file system answers. One that answers with an error does: silent is
// only who keeps others waiting.
type verdict struct {
	silent  bool
	how     string
	waiting int
}

// errUnasked means that a look says nothing about some file systems.
var errUnasked = errors.New("file systems that could not be asked")

// ask finds out of each device whether it answers: from outside, and if that proves
// nothing, by a child. The error tells of those that could not be asked.
func (h *Host) ask(ctx context.Context, vols []volume) (map[string]verdict, error) {
	at := h.now()
	h.children.reap(h.note) // answers to an earlier look
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
		// Who hangs already is asked no second time.
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

// await asks by children, some at a time, and waits for them: for each as long as it may
// take, and for all no longer than a look may take.
func (h *Host) await(ctx context.Context, queue []*volume) error {
	until := h.now() + askWithin
	if deadline, ok := ctx.Deadline(); ok { // what is found too late is lost
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

// note takes what a child has to say. That it was killed, or found nothing there, says nothing.
func (h *Host) note(device string, code int) {
	if code == probeAnswered {
		h.alive[device] = h.now()
		delete(h.nfs, device)
	}
}

// killLate ends the children that have not come back in time, if they can be ended.
func (h *Host) killLate() {
	late := children{}
	for device, c := range h.children {
		if c.waits(h.now()) {
			late[device] = c
		}
	}
	late.kill()
}
