package audit

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/live"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A Live evaluates a cluster continuously: a changed row wakes the subjects that depend on
// it, and the same detectors as in a check evaluate them. It is for one goroutine; Whole and
// Second run in others.
type Live struct {
	// Adjust completes the cluster row with those of another source; may be nil.
	Adjust func(*model.Snapshot)

	store  *live.Store
	opts   Options
	memory Memory
	calico detect.Calico
	shows  [2]bool            // whether blocks and pods showed that Calico is in use, at the last full evaluation
	prompt []*detect.Detector // evaluated with each change
	late   []*detect.Detector // evaluated only in full (Anew): they need node state, or all nodes
	judged map[finding.Code]int
	skips  []detect.Skip

	standing  map[string]*standing          // current findings by key; the next two index the same ones
	bySubject map[model.Subject][]*standing // by each canonical subject in from
	byRef     map[model.Ref][]*standing     // by each ref of Evidence and About
	timers    timers
	certain   bool                       // confirmed findings may have changed since Certain was called
	stale     bool                       // a full evaluation is needed
	since     map[model.Subject]struct{} // subjects woken during a full evaluation; nil if none is in progress
}

// ErrDoubled means that two objects have the same name, so that their changes cannot be told
// apart.
var ErrDoubled = live.ErrDoubled

// A standing is a current finding, as the detectors reported it.
type standing struct {
	finding.Finding
	from  []model.Subject // the subjects that report it, canonical, each once
	late  bool            // reported by a late detector
	fresh bool            // reported by the evaluation in progress; false between evaluations
	settling
}

// NewLive starts with the rows of a snapshot that is not sealed yet, and takes ownership of it.
func NewLive(s *model.Snapshot, o Options) (*Live, error) {
	st, err := live.New(s)
	if err != nil {
		return nil, fmt.Errorf("store the snapshot: %w", err)
	}
	l := &Live{store: st, opts: o, memory: Memory{}, standing: map[string]*standing{}, bySubject: map[model.Subject][]*standing{}, byRef: map[model.Ref][]*standing{}}
	for _, d := range o.Detectors {
		if d == detect.PL5001 || slices.ContainsFunc(d.Needs, model.Table.OfNode) {
			l.late = append(l.late, d)
		} else {
			l.prompt = append(l.prompt, d)
		}
	}
	for i := range s.Pods {
		l.timePod(&s.Pods[i])
	}
	l.timeEvents(s.Events)
	return l, nil
}

// News is what an evaluation changed.
type News struct {
	Raised, Cleared []string // keys of findings
	Judged          int      // subjects
}

// Apply stores changes and evaluates the subjects that depend on them.
func (l *Live) Apply(changes []observe.Change, now model.Time) (News, error) {
	for _, c := range changes {
		if info, ok := c.Row.(*model.Info); ok {
			c.Row = l.adjusted(*info)
		}
		if err := l.store.Put(c); err != nil {
			return News{}, fmt.Errorf("store a change: %w", err)
		}
		if p, ok := c.Row.(*model.Pod); ok {
			l.timePod(p)
		}
	}
	return l.Judge(now), nil
}

// Replace stores tables that were read again completely; Judge evaluates what depends on them.
func (l *Live) Replace(read *model.Snapshot, tables ...model.Table) error {
	if slices.Contains(tables, model.Events) {
		l.timeEvents(read.Events)
	}
	if slices.Contains(tables, model.Pods) {
		for i := range read.Pods {
			l.timePod(&read.Pods[i])
		}
	}
	for i := range read.Info {
		read.Info[i] = *l.adjusted(read.Info[i])
	}
	if err := l.store.Replace(read, tables...); err != nil {
		return fmt.Errorf("store tables: %w", err)
	}
	if few := l.store.Few(); slices.Contains(tables, model.Components) && len(few.Info) > 0 {
		return l.store.Put(observe.Change{Ref: observe.ClusterRef, Row: l.adjusted(few.Info[0])})
	}
	return nil
}

// adjusted completes the cluster row with the settings of Calico's workloads.
func (l *Live) adjusted(info model.Info) *model.Info {
	few := l.store.Few()
	s := model.Snapshot{Info: []model.Info{info}, Components: few.Components}
	if l.Adjust != nil {
		l.Adjust(&s)
	}
	return &s.Info[0]
}

// PutFacts stores the node state of all nodes: a full evaluation is needed.
func (l *Live) PutFacts(said *model.Snapshot) {
	l.store.PutFacts(said)
	l.stale = true
}

// Nodes returns a copy of the rows of Nodes.
func (l *Live) Nodes() []model.Node { return l.store.Nodes() }

// GUID is that of the cluster.
func (l *Live) GUID() string { return l.store.GUID() }

// Judge evaluates the subjects that changes woke, and those that are due by time.
func (l *Live) Judge(now model.Time) News {
	w := l.store.Wake()
	l.stale = l.stale || w.Anew
	if blocks, pods := l.store.Shows(); l.shows != [2]bool{blocks, pods} {
		l.stale = true
	}
	for len(l.timers) > 0 && l.timers[0].at <= now {
		t, _ := heap.Pop(&l.timers).(timer)
		w.Subjects[t.of] = struct{}{}
	}
	for r := range w.Refs {
		for _, x := range l.byRef[r] {
			if !x.late {
				add(w.Subjects, x.from)
			}
		}
	}
	if l.since != nil {
		for s := range w.Subjects {
			l.since[s] = struct{}{}
		}
	}
	return l.judge(w.Subjects, now)
}

func add(to map[model.Subject]struct{}, subjects []model.Subject) {
	for _, s := range subjects {
		to[s] = struct{}{}
	}
}

// judge evaluates subjects in a small snapshot of their own. If several subjects report one
// finding, they are evaluated together: it repeats until no subject is added.
func (l *Live) judge(subjects map[model.Subject]struct{}, now model.Time) News {
	if len(subjects) == 0 {
		return News{}
	}
	var found []finding.Finding
	for size := 0; size != len(subjects); {
		l.complete(subjects)
		size = len(subjects)
		v := model.Seal(l.store.Around(subjects, now))
		v.PutUse(l.store.Use())
		list := make([]model.Subject, 0, size)
		for s := range subjects {
			list = append(list, s)
		}
		found = detect.JudgeAs(v, l.calico, list, l.prompt...).Findings
		for i := range found {
			if x := l.standing[found[i].Key()]; x != nil && !x.late {
				add(subjects, x.from)
			}
		}
	}
	n := l.replace(subjects, found, now)
	n.Judged = len(subjects)
	return n
}

// complete adds the other subjects of findings that one of the subjects reports.
func (l *Live) complete(subjects map[model.Subject]struct{}) {
	var more []model.Subject
	for s := range subjects {
		for _, x := range l.bySubject[s] {
			if len(x.from) > 1 && !x.late {
				more = append(more, x.from...)
			}
		}
	}
	add(subjects, more)
}

// replace replaces the findings of the subjects by those that were found now.
func (l *Live) replace(subjects map[model.Subject]struct{}, found []finding.Finding, now model.Time) News {
	var n News
	for i := range found {
		if l.put(&found[i], false, now) {
			n.Raised = append(n.Raised, found[i].Key())
		}
	}
	var gone []*standing
	for s := range subjects {
		for _, x := range l.bySubject[s] {
			if !x.late && !x.fresh {
				gone = append(gone, x)
			}
		}
	}
	for _, x := range gone {
		if _, there := l.standing[x.Key()]; there {
			n.Cleared = append(n.Cleared, x.Key())
			l.clear(x)
		}
	}
	for i := range found {
		l.standing[found[i].Key()].fresh = false
	}
	slices.Sort(n.Raised)
	slices.Sort(n.Cleared)
	return n
}

// put adds or replaces a finding and marks it fresh; it reports whether it is new. The
// settling of a finding with unchanged evidence is kept.
func (l *Live) put(f *finding.Finding, late bool, now model.Time) bool {
	old := l.standing[f.Key()]
	x := &standing{Finding: *f, late: late, fresh: true, settling: begun(f, now)}
	if old != nil {
		x.settling = old.after(&old.Finding, f, now)
		l.drop(old)
	}
	seen := map[model.Subject]struct{}{}
	for _, s := range f.From {
		seen[live.Canonical(s)] = struct{}{}
	}
	for s := range seen {
		x.from = append(x.from, s)
		l.bySubject[s] = append(l.bySubject[s], x)
	}
	for r := range refs(f) {
		l.byRef[r] = append(l.byRef[r], x)
	}
	l.standing[f.Key()] = x
	l.certain = l.certain || x.state == finding.Confirmed || old != nil && old.state == finding.Confirmed
	return old == nil
}

// clear removes a finding.
func (l *Live) clear(x *standing) {
	l.certain = l.certain || x.state == finding.Confirmed
	l.drop(x)
}

// Certain reports whether confirmed findings may have changed since the last call.
// Unconfirmed ones change far more often.
func (l *Live) Certain() bool {
	was := l.certain
	l.certain = false
	return was
}

func (l *Live) drop(x *standing) {
	delete(l.standing, x.Key())
	without(l.bySubject, slices.Values(x.from), x)
	var rs []model.Ref
	for r := range refs(&x.Finding) {
		rs = append(rs, r)
	}
	without(l.byRef, slices.Values(rs), x)
}

// Findings returns the current findings as the detectors reported them, by key.
func (l *Live) Findings() []finding.Finding {
	out := make([]finding.Finding, 0, len(l.standing))
	for _, x := range l.standing {
		out = append(out, x.Finding)
	}
	slices.SortFunc(out, func(a, b finding.Finding) int { return cmp.Compare(a.Key(), b.Key()) })
	return out
}
