// Package shadow decides what a policy would repair, and sees later whether that would have been right. It is pure:
// it writes nothing, and has no clock.
package shadow

import (
	"maps"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// Bounds of a book. What is not decided for lack of room is decided when there is some.
const (
	maxOpen = 5000
	maxNew  = 200 // in one round
)

// settled is how long an outcome must last to be a score: what somebody writes takes two writes, and that etcd was
// restored is known a minute later than that its records went back.
const settled = 3 * time.Minute

// askAgain is when what a plan refused is planned again.
const askAgain = 10 * time.Minute

// An Outcome says how a decision turned out.
type Outcome struct {
	Finding         string
	Code            finding.Code
	Right           bool
	Why             string
	Decided, Scored model.Time
}

// A Book has the decisions of one policy that are not scored yet.
type Book struct {
	codes  []finding.Code
	minAge time.Duration
	open   map[string]*decision // by finding

	refused map[string]model.Time // what a plan refused, and when: others come first for a while
}

// A decision is what would have been done.
type decision struct {
	code  finding.Code
	fact  fact
	at    model.Time
	seems verdict    // what its outcome seems to be
	since model.Time // since when
}

// NewBook begins one.
func NewBook(codes []finding.Code, minAge time.Duration) *Book {
	return &Book{codes: codes, minAge: minAge, open: map[string]*decision{}, refused: map[string]model.Time{}}
}

// Open counts the decisions that are not scored, by code.
func (b *Book) Open() map[finding.Code]int64 {
	out := map[finding.Code]int64{}
	for _, d := range b.open {
		out[d.code]++
	}
	return out
}

// Wants gives the findings that it could decide about now: confirmed, of its codes, old enough, and not decided yet.
func (b *Book) Wants(r *audit.Report) []finding.Finding {
	var out []finding.Finding
	if Blocked(r) != "" {
		return nil
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if len(out) == maxNew || len(b.open)+len(out) >= maxOpen {
			break
		}
		if at, ok := b.refused[f.Key()]; ok && r.Taken.Sub(at) < askAgain {
			continue
		}
		if b.open[f.Key()] != nil || !slices.Contains(b.codes, f.Code) || f.Since.IsZero() || r.Taken.Sub(f.Since) < b.minAge {
			continue
		}
		if _, ok := factOf(r.View, f); ok {
			out = append(out, *f)
		}
	}
	return out
}

// Decide takes what a plan for the findings of a report would repair, and gives why it refuses some of them.
func (b *Book) Decide(r *audit.Report, wants []finding.Finding, p *repair.Plan) (refused string) {
	maps.DeleteFunc(b.refused, func(_ string, at model.Time) bool { return r.Taken.Sub(at) >= askAgain })
	for i := range wants {
		f := &wants[i]
		key := f.Key()
		delete(b.refused, key)
		if p.Target(key) == nil {
			b.refused[key] = r.Taken
			for _, no := range p.Refused {
				if no.Finding == key && refused == "" {
					refused = no.Why
				}
			}
			continue
		}
		if is, ok := factOf(r.View, f); ok {
			b.open[key] = &decision{code: f.Code, fact: is, at: r.Taken}
		}
	}
	return refused
}

// Blocked is why nothing is decided or scored on what a report says: what it says of many is not to be believed, or the
// records are of another time than the pods. Empty: nothing is in the way.
func Blocked(r *audit.Report) string {
	if len(r.MassChanges) > 0 {
		return r.MassChanges[0]
	}
	return ""
}

// restored tells that the records of a cluster went back in time.
func restored(r *audit.Report) bool {
	is := func(f finding.Finding) bool { return f.Code == finding.PL9006 }
	return slices.ContainsFunc(r.Findings, is) || slices.ContainsFunc(r.Suppressed, is) || slices.ContainsFunc(r.Folded, is)
}

// Score looks what became of the decisions, and gives those that are scored. What happened to records that were restored
// says nothing: then all are forgotten.
func (b *Book) Score(r *audit.Report) (out []Outcome) {
	if restored(r) {
		clear(b.open)
		return nil
	}
	if Blocked(r) != "" { // what was seen before says nothing of the time since
		for _, d := range b.open {
			d.seems = unread
		}
		return nil
	}
	there := keys(r)
	for _, key := range slices.Sorted(maps.Keys(b.open)) {
		d := b.open[key]
		seems := d.fact.became(r, d.code, there[key])
		if seems != d.seems {
			d.seems, d.since = seems, r.Taken
		}
		if !seems.scored() || r.Taken.Sub(d.since) < settled {
			continue
		}
		out = append(out, Outcome{Finding: key, Code: d.code, Right: seems == removed, Why: seems.why(d.code), Decided: d.at, Scored: r.Taken})
		delete(b.open, key)
	}
	return out
}

// keys are the findings of a report, in whatever state.
func keys(r *audit.Report) map[string]bool {
	out := map[string]bool{}
	for _, fs := range [][]finding.Finding{r.Findings, r.Unconfirmed, r.Suppressed, r.Folded} {
		for i := range fs {
			out[fs[i].Key()] = true
		}
	}
	return out
}
