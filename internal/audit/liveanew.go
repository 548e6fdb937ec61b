package audit

import (
	"container/heap"
	"iter"
	"slices"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A Whole is a full evaluation. Live.Anew creates it with a copy of all rows, Judge runs in
// another goroutine while Live takes changes, Live.Adopt applies it.
type Whole struct {
	s      *model.Snapshot
	ds     []*detect.Detector
	res    detect.Result
	calico detect.Calico
	shows  [2]bool
}

// Stale reports whether a full evaluation is needed: something changed on which all findings
// depend.
func (l *Live) Stale() bool { return l.stale }

// Anew begins a full evaluation. There is never more than one.
func (l *Live) Anew(now model.Time) *Whole {
	l.Judge(now) // changes up to here are part of the copy
	l.stale, l.since = false, map[model.Subject]struct{}{}
	blocks, pods := l.store.Shows()
	return &Whole{s: l.store.Whole(now), ds: slices.Concat(l.prompt, l.late), shows: [2]bool{blocks, pods}}
}

// Judge evaluates all rows. It shares no memory with Live that changes meanwhile.
func (w *Whole) Judge() {
	v := model.Seal(w.s)
	w.calico = detect.Recognise(v)
	w.res = detect.Run(v, w.ds...)
	w.s = nil
}

// Adopt replaces all findings by those of the full evaluation, and evaluates again the
// subjects that changed meanwhile.
func (l *Live) Adopt(w *Whole, now model.Time) News {
	l.calico, l.shows, l.judged, l.skips = w.calico, w.shows, w.res.Judged, w.res.Skipped
	var n News
	for i := range w.res.Findings {
		f := &w.res.Findings[i]
		if l.put(f, l.isLate(f.Code), now) {
			n.Raised = append(n.Raised, f.Key())
		}
	}
	for k, x := range l.standing {
		if !x.fresh {
			n.Cleared = append(n.Cleared, k)
			l.clear(x)
			continue
		}
		x.fresh = false
	}
	again := l.since
	l.since = nil
	more := l.judge(again, now)
	n.Raised = append(n.Raised, more.Raised...)
	n.Cleared = append(n.Cleared, more.Cleared...)
	n.Judged = more.Judged
	return n
}

// Fallen evaluates PL5001 (what failed nodes have in common). If a node has failed, it reads
// all pods, so the caller calls it only now and then.
func (l *Live) Fallen(now model.Time) News {
	var n News
	if !slices.Contains(l.late, detect.PL5001) {
		return n
	}
	if s, nodes := l.store.Fallen(now); s != nil {
		res := detect.JudgeAs(model.Seal(s), l.calico, nodes, detect.PL5001)
		for i := range res.Findings {
			if l.put(&res.Findings[i], true, now) {
				n.Raised = append(n.Raised, res.Findings[i].Key())
			}
		}
	}
	for k, x := range l.standing {
		if x.Code == detect.PL5001.Code && !x.fresh {
			n.Cleared = append(n.Cleared, k)
			l.clear(x)
		}
		x.fresh = false
	}
	return n
}

func (l *Live) isLate(c finding.Code) bool {
	return slices.ContainsFunc(l.late, func(d *detect.Detector) bool { return d.Code == c })
}

// refs yields the refs of Evidence and About, each once.
func refs(f *finding.Finding) iter.Seq[model.Ref] {
	return func(yield func(model.Ref) bool) {
		seen := make(map[model.Ref]bool, len(f.Evidence)+len(f.About))
		for _, e := range f.Evidence {
			if !seen[e.Ref] && !yield(e.Ref) {
				return
			}
			seen[e.Ref] = true
		}
		for _, r := range f.About {
			if !seen[r] && !yield(r) {
				return
			}
			seen[r] = true
		}
	}
}

// without removes x from the lists of the keys, and empty lists from the map.
func without[K comparable](m map[K][]*standing, ks iter.Seq[K], x *standing) {
	for k := range ks {
		rest := slices.DeleteFunc(m[k], func(y *standing) bool { return y == x })
		if len(rest) == 0 {
			delete(m, k)
		} else {
			m[k] = rest
		}
	}
}

// A timer wakes a subject whose result changes at a time although no row changes.
type timer struct {
	at model.Time
	of model.Subject
}

type timers []timer

func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].at < t[j].at }
func (t timers) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }

// Push implements heap.Interface.
func (t *timers) Push(x any) {
	if one, ok := x.(timer); ok {
		*t = append(*t, one)
	}
}

// Pop implements heap.Interface.
func (t *timers) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

func (l *Live) timePod(p *model.Pod) {
	if at := detect.DuePod(p); !at.IsZero() {
		heap.Push(&l.timers, timer{at, model.Subject{Table: model.Pods, Ref: p.Ref()}})
	}
}

func (l *Live) timeEvents(es []model.Event) {
	for i := range es {
		at := detect.DueEvent(&es[i])
		heap.Push(&l.timers, timer{at, model.Subject{Table: model.Events, Ref: es[i].Ref()}})
		heap.Push(&l.timers, timer{at, model.Subject{Table: model.Pods, Ref: es[i].Ref()}})
	}
}
