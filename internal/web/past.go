package web

import (
	"maps"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// What is kept of earlier judgements: one count a minute for an hour, and the last changes.
const (
	sampleEvery = time.Minute
	samples     = 60
	mostChanges = 200
)

// A change is that a confirmed finding came, or went.
type change struct {
	At   model.Time
	Came bool
	of   finding.Finding // a copy: a pointer would keep a whole judgement
}

// Key names the finding.
func (c *change) Key() string { return c.of.Key() }

type sample struct {
	at model.Time
	n  map[finding.Code]int
}

// past is what became of earlier judgements.
type past struct {
	before  map[string]*finding.Finding
	changes []change // newest last
	counts  []sample // oldest first
}

func (p *past) note(r *audit.Report) {
	now, n := make(map[string]*finding.Finding, len(r.Findings)), map[finding.Code]int{}
	for i := range r.Findings {
		f := &r.Findings[i]
		now[f.Key()] = f
		n[f.Code]++
	}
	if p.before != nil {
		p.add(r.Taken, now, p.before, true)
		p.add(r.Taken, p.before, now, false)
	}
	p.before = now
	if len(p.counts) == 0 || r.Taken.Sub(p.counts[len(p.counts)-1].at) >= sampleEvery {
		p.counts = append(p.counts, sample{r.Taken, n})
		p.counts = p.counts[max(0, len(p.counts)-samples):]
	}
}

// add notes what is in one judgement and not in the other.
func (p *past) add(at model.Time, in, notIn map[string]*finding.Finding, came bool) {
	for _, key := range slices.Sorted(maps.Keys(in)) {
		if notIn[key] == nil {
			if len(p.changes) >= 2*mostChanges {
				p.changes = append(p.changes[:0], p.changes[mostChanges:]...)
			}
			p.changes = append(p.changes, change{at, came, *in[key]})
		}
	}
	p.changes = slices.Clone(p.changes[max(0, len(p.changes)-mostChanges):]) // those before may be collected
	p.changes = slices.DeleteFunc(p.changes, func(c change) bool { return at.Sub(c.At) > time.Hour })
}

// lastHour gives the changes of the last hour, newest first, and how many findings of each code there were.
func (s *State) lastHour(now model.Time) (changes []change, counts []sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range slices.Backward(s.past.changes) {
		if now.Sub(c.At) <= time.Hour {
			changes = append(changes, c)
		}
	}
	return changes, slices.Clone(s.past.counts)
}
