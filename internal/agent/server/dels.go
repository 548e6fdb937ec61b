package server

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/cnierror"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/internal/scrub"
)

// Bounds on what is remembered of DELs that fail.
const (
	delFresh    = 3 * time.Minute // the kubelet retries every minute: a DEL without a newer attempt has succeeded, or was given up
	delApart    = 5 * time.Second // one attempt may have several lines
	maxDels     = 512
	maxDelError = 1024
)

// A delWatch collects the CNI DELs that fail. The kubelet's sandbox collector retries them
// without an Event: only its log tells, and the guard's report. It is read by one at a time.
type delWatch struct {
	log    *logTail
	report func() (*guard.Report, error)
	now    func() time.Time
	zone   func() *time.Location
	failed map[string]*failingDel // by sandbox
	over   int                    // sandboxes that were too many
}

// A failingDel is a DEL that fails; its times are the node's.
type failingDel struct {
	tries       int
	first, last time.Time
	text        string
}

func newDelWatch(root string, more []LogPlace, now, kubelet func() time.Time) *delWatch {
	return &delWatch{
		log: newKubeletTail(root, more, now, kubelet), now: now, failed: map[string]*failingDel{},
		zone: func() *time.Location {
			if z := nodeZone(root); z != nil {
				return z
			}
			return time.UTC
		},
		report: func() (*guard.Report, error) { return readReport(root) },
	}
}

func (w *delWatch) collector() observe.NodeCollector {
	return observe.NodeCollector{Name: "failed DELs", Tables: []model.Table{model.FailedDels}, Read: w.read}
}

var stopWord = []byte("StopPodSandbox")

// read follows the log and returns the DELs that failed lately. The guard does not see every
// DEL: a plugin of the chain that fails before it hides it.
func (w *delWatch) read(ctx context.Context, f *model.NodeState) error {
	now, zone := w.now(), w.zone()
	err := w.log.read(ctx, func(line []byte, appended bool) {
		if !bytes.Contains(line, stopWord) {
			return
		}
		d, ok := parseDelLine(string(line), zone, now)
		lately := now.Sub(d.at) <= delFresh && !d.at.After(now.Add(time.Minute))
		if ok && appended && !lately { // it is of now: the kubelet has another zone than the node
			d.at, lately = now, true
		}
		if ok && lately {
			w.add(d.sandbox, cnierror.DelReason(d.text), d.at, now)
		}
	})
	w.ofGuard(now)
	for _, id := range slices.Sorted(maps.Keys(w.failed)) {
		d := w.failed[id]
		ago := now.Sub(d.last)
		if ago > delFresh || ago < -time.Minute { // or the clock was set back
			delete(w.failed, id)
			continue
		}
		f.FailedDels = append(f.FailedDels, model.FailedDel{
			Sandbox: id, Tries: d.tries, Span: int64(d.last.Sub(d.first).Seconds()), Ago: int64(max(0, ago).Seconds()), Error: d.text,
		})
	}
	if err == nil && w.over > 0 {
		err = fmt.Errorf("%d sandboxes whose DEL fails were too many: %w", w.over, observe.ErrPartial)
	}
	w.over = 0
	return err
}

// add takes an attempt that ended at a time. Lines may come again: an attempt that is not newer than
// the last one counts no more.
func (w *delWatch) add(id, text string, at, now time.Time) {
	if at.After(now) {
		at = now
	}
	d := w.failed[id]
	switch {
	case d == nil && len(w.failed) == maxDels:
		w.over++
		return
	case d == nil:
		d = &failingDel{first: at, last: at.Add(-2 * delApart)}
		w.failed[id] = d
	}
	if at.Sub(d.last) > delApart {
		d.tries, d.last, d.text = d.tries+1, at, cut(scrub.String(text), maxDelError)
	}
}

// ofGuard adds what the guard daemon reports.
func (w *delWatch) ofGuard(now time.Time) {
	r, err := w.report()
	if err != nil || r == nil || now.Sub(r.At) > delFresh || r.At.After(now.Add(time.Minute)) {
		return
	}
	for i := range r.Endless {
		e := &r.Endless[i]
		if now.Sub(e.Last) > delFresh || e.Container == "" || cnierror.Sandbox(e.Container) != e.Container {
			continue
		}
		w.add(e.Container, e.Error, e.Last, now)
		if d := w.failed[e.Container]; d != nil && e.Since.Before(d.first) {
			d.first, d.tries = e.Since, max(d.tries, e.Count)
		}
	}
}
