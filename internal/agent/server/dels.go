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
	delApart    = 5 * time.Second // several lines of one attempt may be read one after the other
	maxDels     = 512
	maxDelError = 1024
)

// A delWatch collects the CNI DELs that fail. The kubelet's sandbox collector retries them
// without an Event: only its log, and the guard's report, tell. It is read by one at a time.
type delWatch struct {
	log    *logTail
	report func() (*guard.Report, error)
	now    func() time.Time
	failed map[string]*failingDel // by sandbox
	over   int                    // sandboxes that were too many
}

var networkWord, deleteWord = []byte("network"), []byte("(delete)")

type failingDel struct {
	tries int
	last  time.Time
	text  string
}

func newDelWatch(root string, more []LogPlace, now func() time.Time) *delWatch {
	return &delWatch{
		log: newLogTail(root, "kubelet", more, now), now: now, failed: map[string]*failingDel{},
		report: func() (*guard.Report, error) { return readReport(root) },
	}
}

func (w *delWatch) collector() observe.NodeCollector {
	return observe.NodeCollector{Name: "failed DELs", Tables: []model.Table{model.FailedDels}, Read: w.read}
}

// read follows the log and returns the DELs that still fail.
func (w *delWatch) read(ctx context.Context, f *model.NodeState) error {
	now := w.now()
	seen := map[string]string{} // attempts within one read count once
	err := w.log.read(ctx, func(line []byte) {
		if !bytes.Contains(line, networkWord) && !bytes.Contains(line, deleteWord) {
			return // cheaper than the expressions, and all that match have one of them
		}
		text := string(line)
		if id := cnierror.Sandbox(text); id != "" && cnierror.IsFailedDel(text) {
			seen[id] = text
		}
	})
	for id, text := range seen {
		w.add(id, text, now)
	}
	if w.ofGuard(now) {
		err = nil
	}
	for _, id := range slices.Sorted(maps.Keys(w.failed)) {
		d := w.failed[id]
		if now.Sub(d.last) > delFresh {
			delete(w.failed, id)
			continue
		}
		f.FailedDels = append(f.FailedDels, model.FailedDel{Sandbox: id, Tries: d.tries, Error: d.text})
	}
	if err == nil && w.over > 0 {
		err = fmt.Errorf("%d sandboxes whose DEL fails were too many: %w", w.over, observe.ErrPartial)
	}
	w.over = 0
	return err
}

// of returns what is remembered of a sandbox; nil if there are too many.
func (w *delWatch) of(id string) *failingDel {
	d := w.failed[id]
	if d == nil && len(w.failed) == maxDels {
		w.over++
		return nil
	}
	if d == nil {
		d = &failingDel{}
		w.failed[id] = d
	}
	return d
}

func (w *delWatch) add(id, text string, now time.Time) {
	if d := w.of(id); d != nil && now.Sub(d.last) > delApart {
		d.tries, d.last, d.text = d.tries+1, now, delText(cnierror.DelReason(text))
	}
}

// ofGuard adds what the guard daemon reports, and says whether that is all: the guard sees every
// DEL, and reports the most retried.
func (w *delWatch) ofGuard(now time.Time) bool {
	r, err := w.report()
	if err != nil || r == nil || r.Mode == "" || r.Mode == guard.Off || now.Sub(r.At) > delFresh {
		return false
	}
	for i := range r.Endless {
		e := &r.Endless[i]
		if now.Sub(e.Last) > delFresh || cnierror.Sandbox(e.Container) != e.Container || e.Container == "" {
			continue
		}
		if d := w.of(e.Container); d != nil {
			d.tries, d.text = max(d.tries, e.Count), delText(e.Error)
			if e.Last.After(d.last) && !e.Last.After(now) {
				d.last = e.Last
			}
		}
	}
	return len(r.Endless) < guard.MaxEndless
}

func delText(s string) string { return cut(scrub.String(s), maxDelError) }
