package objects

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

const (
	// keptResolved is how long a resolved finding keeps its object.
	keptResolved = 24 * time.Hour
	// patience is how long a finding that cannot be read is taken for what it was: its agent may be restarting.
	patience = 2 * time.Minute
)

// A Board holds the findings of a cluster by code and group. It is for one goroutine.
//
// What was confirmed stays until a report that could have contained it does not.
type Board struct {
	title   func(finding.Code) string
	entries map[string]*entry // by the finding's key
	groups  map[string]*group // by the object's name
	pass    int               // the number of the report
	began   model.Time        // of the first report
	settled model.Time        // when all that was unconfirmed in the first complete report has settled; zero: not known yet
	more    int64             // findings for which an earlier leader had no objects; until this one has settled
}

// NewBoard returns an empty one. Title tells what a code means.
func NewBoard(title func(finding.Code) string) *Board {
	return &Board{title: title, entries: map[string]*entry{}, groups: map[string]*group{}}
}

// Adopt takes over what an earlier leader wrote. Believed is only that something was found, and
// since when: everything else is judged again.
func (b *Board) Adopt(all []v1alpha1.Finding) {
	for i := range all {
		o := &all[i]
		code := finding.Code(o.Spec.Code)
		switch {
		case o.Spec.Code == v1alpha1.Overflow && o.Name == overflowName && o.Status.State != v1alpha1.StateResolved:
			b.more = max(0, o.Status.Count)
		case o.Status.State == "" || o.Name != nameOf(code, o.Spec.In):
		default:
			b.adopt(o, code)
		}
	}
}

func (b *Board) adopt(o *v1alpha1.Finding, code finding.Code) {
	s := &o.Status
	g := &group{
		code: code, in: o.Spec.In, state: s.State, severity: finding.Severity(s.Severity), first: model.At(s.FirstSeen.Time), last: model.At(s.LastSeen.Time),
		resolved: model.At(s.ResolvedAt.Time), conditions: conditionsOf(s.Conditions), placed: true,
	}
	b.groups[o.Name] = g
	if g.state == v1alpha1.StateResolved {
		return
	}
	for _, sample := range s.Samples {
		key := finding.KeyOf(code, sample.Subject)
		e := &entry{code: code, group: o.Name, severity: g.severity, first: model.At(sample.Since.Time), adopted: true, sample: sample}
		if sample.Node != "" {
			e.nodes = []string{sample.Node}
		}
		if g.unread() { // nobody has seen it since
			e.seen, e.why = g.last, cmp.Or(g.conditions["Checked"].message, "not read")
		}
		b.entries[key] = e
	}
	g.unnamed, g.unnamedHidden = max(0, s.Count-int64(len(s.Samples))), max(0, s.Suppressed)
	g.unnamedUnread = g.unread()
}

// Take takes over a report, and tells what changed.
func (b *Board) Take(r *audit.Report) []Transition {
	if b.began.IsZero() {
		b.began = r.Taken
		for _, e := range b.entries {
			if e.seen.IsZero() {
				e.seen = r.Taken
			}
		}
	}
	b.pass++
	u := unreadOf(r)
	b.settle(r, &u)
	b.confirmed(r)
	b.listed(r)
	b.missing(&u, r)
	for _, g := range b.groups {
		g.clear()
	}
	for _, e := range b.entries {
		b.groups[e.group].add(e)
	}
	var out []Transition
	for _, name := range slices.Sorted(maps.Keys(b.groups)) {
		g := b.groups[name]
		was := g.state
		if !slices.ContainsFunc(r.Suppressing, func(s audit.Suppression) bool { return s.Code == g.code && s.Expires > r.Taken }) {
			g.unnamed, g.unnamedHidden = g.unnamed+g.unnamedHidden, 0 // nothing hides them any more
		}
		g.conclude(&u, r.Taken, b.began)
		if g.state == v1alpha1.StateResolved && r.Taken.Sub(g.resolved) > keptResolved {
			delete(b.groups, name)
			continue
		}
		if t, ok := g.changed(was, name, b.title(g.code)); ok {
			out = append(out, t)
		}
	}
	return out
}

// settle notes when what an earlier leader had confirmed can be confirmed again.
func (b *Board) settle(r *audit.Report, u *unread) {
	if b.settled.IsZero() && len(u.code) == 0 && len(u.onNode) == 0 {
		b.settled = max(r.Taken, r.RecheckAfter().Add(time.Minute))
	}
	if !b.settled.IsZero() && r.Taken > b.settled {
		b.more = 0
	}
}

// confirmed takes over what a report confirms.
func (b *Board) confirmed(r *audit.Report) {
	for i, fs := range [][]finding.Finding{r.Findings, r.Suppressed} {
		for j := range fs {
			f := &fs[j]
			if f.State != finding.Confirmed {
				continue
			}
			e := b.known(r, f)
			e.take(f, r.Taken, i == 1)
			e.pass = b.pass
		}
	}
}

// known is the entry of a finding, a new one if there is none.
func (b *Board) known(r *audit.Report, f *finding.Finding) *entry {
	key := finding.KeyOf(f.Code, subjectOf(f.Subject.Name))
	e := b.entries[key]
	if e == nil {
		in := groupOf(r.View, f)
		e = &entry{code: f.Code, group: nameOf(f.Code, in)}
		if b.groups[e.group] == nil {
			b.groups[e.group] = &group{code: f.Code, in: in}
		}
		if b.groups[e.group].name() {
			e.first = b.groups[e.group].first
		}
		b.entries[key] = e
	}
	return e
}

// listed keeps what was confirmed and is listed otherwise now: its evidence changed or this leader is new, so that it
// settles anew, or another finding explains it. Where only the node could tell, it was not seen.
func (b *Board) listed(r *audit.Report) {
	for list, fs := range [][]finding.Finding{r.Unconfirmed, r.Folded, r.Suppressed} {
		for i := range fs {
			f := &fs[i]
			hidden := list == 2
			if hidden && f.State == finding.Confirmed {
				continue
			}
			e := b.entries[finding.KeyOf(f.Code, subjectOf(f.Subject.Name))]
			if g := b.groups[nameOf(f.Code, groupOf(r.View, f))]; e == nil && g != nil && g.unnamed+g.unnamedHidden > 0 {
				e = b.known(r, f)
				e.take(f, r.Taken, hidden)
				e.adopted = true
			}
			if e == nil {
				continue
			}
			e.pass, e.suppressed = b.pass, hidden
			if f.Class == finding.Node && f.State != finding.Confirmed {
				e.unseen(r.Taken, f.Why)
				continue
			}
			e.seen, e.why = r.Taken, ""
			if len(e.nodes) == 0 {
				e.nodes = nodesOf(f)
			}
		}
	}
}

// unseen notes that a finding may still be there.
func (e *entry) unseen(at model.Time, why string) {
	if at.Sub(e.seen) >= patience {
		e.why = cmp.Or(why, "not read")
	}
}

// missing drops what is gone, and keeps what the report could not contain. What a suppression hid that holds no more
// is shown again.
func (b *Board) missing(u *unread, r *audit.Report) {
	at := r.Taken
	for key, e := range b.entries {
		if e.pass == b.pass {
			continue
		}
		why := u.of(e.code, e.nodes)
		if why == "" && e.adopted && e.code == finding.PL5002 && (b.settled.IsZero() || at <= b.settled) {
			why = "it is known when leaked addresses are confirmed again"
		}
		if why == "" {
			delete(b.entries, key)
			continue
		}
		e.unseen(at, why)
		e.suppressed = e.suppressed && r.Suppresses(e.code, e.sample.Subject)
	}
}
