package web

import (
	"maps"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// What is kept of earlier judgements: one count a minute for an hour, and the last changes of each way.
const (
	sampleEvery = time.Minute
	samples     = 60
	mostChanges = 200
)

// A change is that a confirmed finding came, or went.
type change struct {
	At model.Time
	of finding.Finding // a copy: a pointer would keep a whole judgement
}

// Key names the finding.
func (c *change) Key() string { return c.of.Key() }

type sample struct {
	at model.Time
	n  map[finding.Code]int
}

// past is what became of earlier judgements.
type past struct {
	open       map[string]*finding.Finding // came, and is not known to be gone
	came, gone []change                    // newest last
	counts     []sample                    // oldest first
}

func (p *past) note(r *audit.Report) {
	now, n := make(map[string]*finding.Finding, len(r.Findings)), map[finding.Code]int{}
	for i := range r.Findings {
		f := &r.Findings[i]
		now[f.Key()] = f
		n[f.Code]++
	}
	var came, gone []*finding.Finding
	if p.open != nil {
		for _, key := range slices.Sorted(maps.Keys(now)) {
			if p.open[key] == nil {
				came = append(came, now[key])
			}
		}
		there := finding.Keys(r.Unconfirmed, r.Folded, r.Suppressed)
		for _, key := range slices.Sorted(maps.Keys(p.open)) {
			switch f := p.open[key]; {
			case now[key] != nil:
			case there[key] || !judgedAt(r, f):
				own := *f // a pointer would keep a whole judgement
				now[key] = &own
			default:
				gone = append(gone, f)
			}
		}
	}
	p.open = now
	p.came, p.gone = changed(p.came, r.Taken, came), changed(p.gone, r.Taken, gone)
	if len(p.counts) == 0 || r.Taken.Sub(p.counts[len(p.counts)-1].at) >= sampleEvery {
		p.counts = append(p.counts, sample{r.Taken, n})
		p.counts = p.counts[max(0, len(p.counts)-samples):]
	}
}

// judgedAt tells that a report would have the finding if it were still true: its code was judged on its node.
func judgedAt(r *audit.Report, f *finding.Finding) bool {
	return !slices.ContainsFunc(r.Skipped, func(s detect.Skip) bool {
		return s.Code == f.Code && !s.NotApplicable && (len(s.Nodes) == 0 || f.Node == "" || slices.Contains(s.Nodes, f.Node))
	})
}

// changed are the last changes of an hour, with those of a judgement.
func changed(before []change, at model.Time, fs []*finding.Finding) []change {
	out := slices.DeleteFunc(slices.Clone(before), func(c change) bool { return at.Sub(c.At) > time.Hour })
	for _, f := range fs[:min(len(fs), mostChanges)] {
		out = append(out, change{at, *f})
	}
	return slices.Clone(out[max(0, len(out)-mostChanges):]) // those before may be collected
}

// lastHour gives what came and what went in the last hour, newest first, and how many findings of each code there were.
func (s *State) lastHour(now model.Time) (came, gone []change, counts []sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	late := func(all []change) []change {
		out := slices.DeleteFunc(slices.Clone(all), func(c change) bool { return now.Sub(c.At) > time.Hour })
		slices.Reverse(out)
		return out
	}
	return late(s.past.came), late(s.past.gone), slices.Clone(s.past.counts)
}
