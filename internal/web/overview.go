package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/capacity"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// An overview is how the cluster stands.
type overview struct {
	Codes    []codeCount
	Hidden   int // findings about pods that who asks may not list
	Pools    []poolUse
	Nodes    []nodeState
	More     int // nodes that are not drawn
	Came     []change
	Gone     []change
	Patterns []string
	Info     *model.Info
}

// A codeCount is how many findings of a code there are, and were.
type codeCount struct {
	Code                   finding.Code
	Severity               finding.Severity
	Confirmed, Unconfirmed int
	Trend                  string // points of a line, 120 by 24; empty: too little is known
}

// mostNodes bounds the grid of nodes.
const mostNodes = 5000

// mostShown bounds what came, and what went.
const mostShown = 12

func (l *look) overview() (string, any, error) {
	o := &overview{Info: l.View.Info(), Pools: l.pools()}
	if p := l.Pattern(); p != nil && l.unlimited {
		o.Patterns = append(o.Patterns, p.String())
	}
	if p := l.Predating(); p != nil && l.unlimited {
		o.Patterns = append(o.Patterns, p.String())
	}
	by := map[finding.Code]*codeCount{}
	count := func(fs []finding.Finding, add func(*codeCount)) {
		for i := range fs {
			f := &fs[i]
			if !l.sees(f) {
				o.Hidden++
				continue
			}
			c := by[f.Code]
			if c == nil {
				c = &codeCount{Code: f.Code, Severity: f.Severity}
				by[f.Code] = c
			}
			if f.Severity.Level() > c.Severity.Level() {
				c.Severity = f.Severity
			}
			add(c)
		}
	}
	count(l.Findings, func(c *codeCount) { c.Confirmed++ })
	count(l.Unconfirmed, func(c *codeCount) { c.Unconfirmed++ })
	came, gone, counts := l.site.State.lastHour(l.Taken)
	o.Came = newest(came, l.sees)
	o.Gone = newest(gone, func(f *finding.Finding) bool { // the namespaces that its words name may be gone too
		return l.unlimited || f.Namespace != "" && l.sees(f)
	})
	for _, code := range slices.Sorted(maps.Keys(by)) {
		c := by[code]
		if l.unlimited {
			c.Trend = trend(counts, code)
		}
		o.Codes = append(o.Codes, *c)
	}
	slices.SortStableFunc(o.Codes, func(a, b codeCount) int { return cmp.Compare(b.Severity.Level(), a.Severity.Level()) })
	o.Nodes = l.grid()
	o.More = max(0, len(o.Nodes)-mostNodes)
	o.Nodes = o.Nodes[:min(len(o.Nodes), mostNodes)]
	return "overview", o, nil
}

// newest are the last changes that who asks may see.
func newest(all []change, sees func(*finding.Finding) bool) (out []change) {
	for i := range all {
		if len(out) < mostShown && sees(&all[i].of) {
			out = append(out, all[i])
		}
	}
	return out
}

// trend draws how many findings of a code there were, as points.
func trend(counts []sample, code finding.Code) string {
	if len(counts) < 2 {
		return ""
	}
	most := 1
	for _, s := range counts {
		most = max(most, s.n[code])
	}
	var b strings.Builder
	for i, s := range counts {
		fmt.Fprintf(&b, "%d,%d ", 2+116*i/(len(counts)-1), 22-20*s.n[code]/most)
	}
	return strings.TrimSpace(b.String())
}

// A poolUse is a pool with the widths of its parts, of 1000.
type poolUse struct {
	capacity.Pool
	CIDR         string
	UsedW, LostW int
	Endless      bool
	Forecast     string
}

func (l *look) pools() (out []poolUse) {
	pools, _ := capacity.Pools(l.Report)
	for i, p := range pools {
		u := poolUse{Pool: p, CIDR: l.View.Pool(int32(i)).CIDR.String(), Endless: p.Addresses >= capacity.Many, Forecast: l.site.State.forecast(&p)}
		if p.Addresses > 0 {
			u.UsedW, u.LostW = 1000*p.Used/p.Addresses, 1000*p.Leaked/p.Addresses
		}
		out = append(out, u)
	}
	return out
}
