package detect

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// Run runs the detectors over all their subjects, on all cores.
func Run(v *model.View, ds ...*Detector) Result { return RunOn(runtime.GOMAXPROCS(0), v, ds...) }

// RunOn is Run on so many cores. It is deterministic: the same snapshot gives the same
// findings in the same order.
func RunOn(cores int, v *model.View, ds ...*Detector) Result {
	calico := Recognise(v)
	seats := make(seatCache, v.Rows(model.Pods))
	parts := make([]Result, len(ds))
	next := make(chan int)
	var all sync.WaitGroup
	views := make([]*model.View, min(cores, len(ds)))
	for w := range views {
		own := v.Aside()
		views[w] = own
		all.Go(func() {
			for i := range next {
				parts[i] = run(own, calico, seats, ds[i:i+1], func(t model.Table, judge func(int32)) {
					for row := range own.InOrder(t) {
						judge(row)
					}
				})
			}
		})
	}
	for i := range ds {
		next <- i
	}
	close(next)
	all.Wait()
	for _, w := range views {
		v.Join(w)
	}
	res := Result{Judged: map[finding.Code]int{}}
	for _, p := range parts {
		res.Findings, res.Skipped = append(res.Findings, p.Findings...), append(res.Skipped, p.Skipped...)
		for c, n := range p.Judged {
			res.Judged[c] += n
		}
	}
	finding.Sort(res.Findings)
	return res
}

// Judge runs the detectors over the given subjects only.
func Judge(v *model.View, subjects []model.Subject, ds ...*Detector) Result {
	return run(v, Recognise(v), make(seatCache, v.Rows(model.Pods)), ds, func(t model.Table, judge func(int32)) {
		for _, s := range subjects {
			if s.Table != t {
				continue
			}
			for _, row := range v.Find(s) {
				judge(row)
			}
		}
	})
}

// run runs the detectors one after the other; subjects calls its argument with each row of a
// table that is to be evaluated. Findings with the same key are merged.
func run(v *model.View, calico Calico, seats seatCache, ds []*Detector, subjects func(model.Table, func(int32))) Result {
	res := Result{Judged: map[finding.Code]int{}}
	for _, d := range ds {
		if s, skip := d.skip(v, calico); skip {
			res.Skipped = append(res.Skipped, s)
			continue
		}
		byKey := map[string]int{}
		p := &Pass{View: v, Now: v.Snapshot().Meta.Taken, Calico: calico, d: d, seats: seats, doubt: d.Applies != nil && d.Applies(calico) == Maybe}
		p.report = func(f finding.Finding) {
			if i, ok := byKey[f.Key()]; ok {
				res.Findings[i].Merge(&f)
				return
			}
			byKey[f.Key()] = len(res.Findings)
			res.Findings = append(res.Findings, f)
		}
		p.untold = map[string][]string{}
		var unread unreadNodes
		for _, t := range d.Each {
			subjects(t, func(row int32) {
				if !d.sees(v, t, row, &unread) {
					return
				}
				p.table, p.row = t, row
				res.Judged[d.Code]++
				d.Run(p, t, row)
			})
		}
		d.lacksSubjects(v, &unread)
		for _, t := range d.Partly {
			if v.State(t, "") == model.Partial {
				res.Skipped = append(res.Skipped, Skip{Code: d.Code, Why: "not read completely: " + t.String()})
			}
		}
		if s, ok := unread.skip(d); ok {
			res.Skipped = append(res.Skipped, s)
		}
		for _, why := range slices.Sorted(maps.Keys(p.untold)) {
			nodes := slices.Compact(slices.Sorted(slices.Values(p.untold[why])))
			res.Skipped = append(res.Skipped, Skip{Code: d.Code, Why: why + " on " + some(nodes), Nodes: nodes, OutOfScope: true, Unknown: true})
		}
	}
	finding.Sort(res.Findings)
	return res
}

// skip reports whether the detector cannot run on this snapshot, and why.
func (d *Detector) skip(v *model.View, c Calico) (Skip, bool) {
	if d.Applies != nil && d.Applies(c) == No {
		return Skip{Code: d.Code, Why: c.Why, NotApplicable: true}, true
	}
	var lacks []string
	for _, t := range d.Needs {
		if t.OfNode() {
			if !v.Agents() {
				return Skip{Code: d.Code, Why: "no agents installed: node state is not read", OutOfScope: true}, true
			}
			continue // checked for the subject's own node, in sees
		}
		if derived := t == model.Allocations || t == model.Addresses; derived {
			continue
		}
		if s := v.State(t, ""); !s.Seen() && (s != model.Partial || !slices.Contains(d.Partly, t)) {
			lacks = append(lacks, t.String())
		}
	}
	if len(lacks) > 0 {
		return Skip{Code: d.Code, Why: "not read: " + strings.Join(lacks, ", ")}, true
	}
	return Skip{}, false
}
