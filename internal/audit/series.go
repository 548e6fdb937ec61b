package audit

import (
	"context"
	"runtime"
	"time"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// When an unconfirmed finding is reread for the first time, and the longest pause between
// two rereads that decided nothing. A difference that disappears within seconds is never
// reread.
const (
	firstReread = 5 * time.Second
	lastReread  = 5 * time.Minute
)

// A Series judges one cluster again and again, each time from a whole snapshot. What one
// judgement learned counts for the next: a finding that is as it was is not reread before
// its time has come. It is for one goroutine.
type Series struct {
	opts   Options
	begun  bool
	memory Memory
	known  map[string]*settling
	differ map[string]differing // nodes whose sums of ways differ
	last   *judgement           // nil before the first
}

// A settling is how far a finding has come from unconfirmed to confirmed. It belongs to one
// digest: when the evidence changes, it begins anew.
type settling struct {
	digest string
	class  finding.Class
	next   model.Time // when it is reread; zero: rereading would tell nothing
	tries  int        // rereads that decided nothing
	state  finding.State
	since  model.Time
	after  model.Time // RecheckAfter
	why    string
	away   bool // a reread did not see it, and no judgement since
}

// NewSeries begins a series. Options.Recall is asked once, at the first judgement.
func NewSeries(o Options) *Series {
	return &Series{opts: o, memory: Memory{}, known: map[string]*settling{}, differ: map[string]differing{}}
}

// Memory is for the next run.
func (w *Series) Memory() Memory { return w.memory }

// Judge judges a snapshot. The first judgement rereads every unconfirmed finding at once,
// as a check does; later ones reread those that are due.
func (w *Series) Judge(ctx context.Context, s *model.Snapshot, src Source) *Report {
	w.last = nil // before another view of a large cluster needs memory
	v := w.open(ctx, s, src)
	if !w.begun && w.opts.Recall != nil {
		for k, o := range w.opts.Recall(s.Meta.GUID) {
			w.memory[k] = o
		}
	}
	res := detect.RunOn(w.cores(), v, w.opts.Detectors...)
	w.last = &judgement{v: v.Aside(), gaps: gaps(v), skipped: res.Skipped, judged: res.Judged}
	w.last.found, w.last.others = keep(res.Findings, w.opts.Keep)
	there := index(w.last.found)
	for k := range w.known { // what is not found is forgotten: if it comes back, it begins anew
		if there[k] == nil {
			delete(w.known, k)
		}
	}
	r := w.decide(ctx, s.Meta.Taken, src)
	w.begun = true
	return r
}

// cores is on how many cores the detectors run. Somebody waits for the first judgement; later
// ones leave the others to the watches, which the API server ends if they fall behind.
func (w *Series) cores() int {
	if w.begun {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// divide gives the findings that are to be reread now, and the others with what is known of
// them.
func (w *Series) divide(found []finding.Finding, now model.Time) (due, rest []finding.Finding) {
	for i := range found {
		f := found[i]
		x := w.known[f.Key()]
		if d := digestOf(&f); x == nil || x.digest != d || x.class != f.Class {
			x = &settling{digest: d, class: f.Class, state: finding.Unconfirmed, next: now.Add(firstReread), why: "not reread yet"}
			switch {
			case f.Class == finding.Now:
				x.state, x.since, x.next, x.why = finding.Confirmed, f.Proven(), 0, ""
			case f.Class == finding.Node:
				x.next, x.why = 0, "only its node can prove it"
			case !w.begun:
				x.next = now
			default:
				x.after = x.next
			}
			w.known[f.Key()] = x
		}
		x.away = false
		if !x.next.IsZero() && x.next <= now {
			due = append(due, f)
			continue
		}
		f.State, f.Since, f.RecheckAfter, f.Why = x.state, x.since, x.after, x.why
		rest = append(rest, f)
	}
	return due, rest
}

// missed notes the findings that a reread did not see: they were differences in time. If a
// later snapshot shows them still, they are reread later, and later each time.
func (w *Series) missed(due, looked []finding.Finding, now model.Time) {
	again := index(looked)
	for i := range due {
		if k := due[i].Key(); again[k] == nil {
			delete(w.memory, k)
			x := w.known[k]
			x.postpone(now)
			x.state, x.why, x.away = finding.Unconfirmed, "not found when it was reread", true
		}
	}
}

// settle decides about what was reread, and remembers it.
func (w *Series) settle(due, rest []finding.Finding, now, seen model.Time) []finding.Finding {
	v, judged := w.last.v, w.last.judged
	st := settler{now: now, fixed: w.opts.Settle, memory: w.memory, gcGracePeriod: gracePeriod(v)}
	kept := map[string]bool{}
	for k := range w.last.others {
		kept[k] = true
	}
	for i := range rest {
		kept[rest[i].Key()] = true
	}
	memory := remember(w.memory, due, judged, kept, seen)
	for i := range due {
		f := &due[i]
		f.State = finding.Unconfirmed
		failed := f.Why != ""
		st.settle(f)
		x := w.known[f.Key()]
		x.digest, x.class = digestOf(f), f.Class
		x.state, x.since, x.after, x.why = f.State, f.Since, f.RecheckAfter, f.Why
		switch {
		case f.State == finding.Confirmed, f.Class == finding.Node:
			x.next = 0
		case failed:
			x.postpone(now)
			f.RecheckAfter = x.after
		default:
			x.next = max(f.RecheckAfter, now.Add(time.Second))
		}
	}
	w.memory = memory
	return due
}

func (x *settling) postpone(now model.Time) {
	pause := min(lastReread, firstReread<<min(x.tries, 10))
	x.tries++
	x.next = now.Add(pause)
	x.after = x.next
}

// Due is when the next finding of the last judgement is to be reread; zero if none is.
func (w *Series) Due() model.Time {
	var at model.Time
	for _, x := range w.known {
		if !x.next.IsZero() && !x.away && (at.IsZero() || x.next < at) {
			at = x.next
		}
	}
	return at
}
