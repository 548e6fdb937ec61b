package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
)

// writers remembers for a while who changed which row, by what the kernel reported. Rows are found
// changed by reading them, a moment after the report; who changed a row is told only if the reports
// leave no doubt. mu guards the maps and what is in them.
type writers struct {
	name func(ctx context.Context, port uint32, link int) string // of the process behind a port that wrote to an interface; empty: unknown
	now  func() time.Time
	ask  chan *heard
	// caughtUp reports whether all that the kernel said so far was heard; nil: nobody listens.
	caughtUp atomic.Pointer[func() bool]

	mu     sync.Mutex
	rows   map[rowKey][]*heard
	links  map[int]ended // interfaces that vanished or went down
	count  int           // of what rows has
	missed time.Time     // when a report was last lost
}

type rowKey struct {
	table model.Table
	key   string
}

// heard is one report.
type heard struct {
	kernel.Written
	at    time.Time
	who   string // empty as long as it is unknown
	asked bool   // who is final
}

// ended is the end of an interface, or of its being up.
type ended struct {
	name string
	gone bool
	at   time.Time
}

const (
	maxHeard   = 8192
	heardFor   = time.Minute
	settleHear = 100 * time.Millisecond // after which every report about a row that was read has arrived
)

func newWriters(name func(context.Context, uint32, int) string, now func() time.Time) *writers {
	return &writers{name: name, now: now, ask: make(chan *heard, 1024), rows: map[rowKey][]*heard{}, links: map[int]ended{}}
}

func (w *writers) listens(caughtUp func() bool) { w.caughtUp.Store(&caughtUp) }

// begin is the time at which a read begins, or zero if reports from before may still be heard after it.
func (w *writers) begin() time.Time {
	caughtUp := w.caughtUp.Load()
	for try := 0; caughtUp != nil && try < 5; try++ {
		if at := w.now(); (*caughtUp)() {
			return at
		}
		time.Sleep(time.Millisecond)
	}
	return time.Time{}
}

// run finds the processes, as soon as it can: some end a moment later.
func (w *writers) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case h := <-w.ask:
			who := ""
			if w.now().Sub(h.at) < settleHear { // later somebody else may have the port
				who = w.name(ctx, h.Port, h.Link)
			}
			w.mu.Lock()
			h.who, h.asked = who, true
			w.mu.Unlock()
		}
	}
}

// hear notes a report. It is quick.
func (w *writers) hear(r kernel.Written) {
	h := &heard{Written: r, at: w.now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case r.Missed:
		w.missed = h.at
		return
	case r.Name != "":
		if len(w.links) >= maxHeard {
			clear(w.links)
		}
		w.links[r.Link] = ended{r.Name, r.Gone, h.at}
		return
	}
	if w.count >= maxHeard {
		w.forget()
	}
	w.put(rowKey{r.Table, r.Key}, h)
	if r.Replaced != "" {
		w.put(rowKey{r.Table, r.Replaced}, h)
	}
	if r.Port == 0 {
		return
	}
	select {
	case w.ask <- h:
	default: // too many at once: this one stays unknown
	}
}

func (w *writers) put(k rowKey, h *heard) {
	w.rows[k] = append(w.rows[k], h)
	w.count++
}

// forget drops what is old, and everything if that is not enough.
func (w *writers) forget() {
	old := w.now().Add(-heardFor)
	w.count = 0
	for k, hs := range w.rows {
		for len(hs) > 0 && hs[0].at.Before(old) {
			hs = hs[1:]
		}
		if len(hs) == 0 {
			delete(w.rows, k)
			continue
		}
		w.rows[k] = hs
		w.count += len(hs)
	}
	if w.count > maxHeard/2 {
		clear(w.rows)
		w.count, w.missed = 0, w.now()
	}
}

// of says who made a change: a process, or the end of an interface; empty if that is unknown. Invariant: what was written before the previous read of the table began is in that read's
// rows, and explains nothing.
func (w *writers) of(c *change) (port uint32, who string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.after.IsZero() || !w.missed.IsZero() && !w.missed.Before(c.after) {
		return 0, ""
	}
	last, doubt := w.last(c)
	switch {
	case doubt:
		return 0, ""
	case last != nil && last.Port != 0:
		return last.Port, last.who
	}
	// The kernel itself did it. What made it do so is told only of interfaces: it also deletes the neighbour
	// entry that a process asked it to, and the routes of an address.
	if e, ok := w.links[c.link]; ok && c.gone() && c.link != 0 && !e.at.Before(c.after) {
		if e.gone {
			return 0, eventlog.OfInterface + e.name + " vanished"
		}
		return 0, eventlog.OfInterface + e.name + " went down"
	}
	return 0, ""
}

// last is the report that explains a change: the last one before the row was read, or if there is
// none the first one after, since a report may arrive after what it is about was read. Who writes a row
// that is there does not make it new. It is in doubt if it says the opposite, if somebody else did the
// same a moment later. Of an interface with several
// addresses, and of neighbour entries, which the kernel changes too, all reports must be of one writer.
func (w *writers) last(c *change) (out *heard, doubt bool) {
	until := c.At.Add(settleHear)
	for _, h := range w.about(c) {
		if !h.at.Before(c.after) && !h.at.After(until) && c.table != model.Routes && out != nil && out.Port != h.Port {
			return nil, true
		}
		again := out != nil && c.What == "new" && !out.says(c) && !h.says(c)
		switch {
		case h.at.Before(c.after) || h.at.After(until) || again:
		case out == nil || !h.at.After(c.At):
			out = h
		case h.says(c) == c.gone() && (h.Port != out.Port || h.who != out.who):
			return nil, true
		}
	}
	if out != nil && out.says(c) != c.gone() {
		return nil, true
	}
	return out, false
}

// about are the reports about the row, and about routes that replaced it.
func (w *writers) about(c *change) []*heard {
	own := w.rows[rowKey{c.table, c.key}]
	if c.place == "" {
		return own
	}
	var all []*heard
	others := w.rows[rowKey{c.table, c.place}]
	for len(own) > 0 || len(others) > 0 {
		switch {
		case len(others) > 0 && others[0].Link == c.link: // it replaced itself, which is in own
			others = others[1:]
		case len(others) == 0 || len(own) > 0 && own[0].at.Before(others[0].at):
			all, own = append(all, own[0]), own[1:]
		default:
			all, others = append(all, others[0]), others[1:]
		}
	}
	return all
}

// says tells whether a report says that the row of a change is gone.
func (h *heard) says(c *change) bool { return h.Gone || h.Key != c.key }
