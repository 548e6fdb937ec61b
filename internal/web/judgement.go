package web

import (
	"encoding/json"
	"sync"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/ipammap"
)

// A judgement is a report with what pages look up in it. It is read by several goroutines; each has a view of its own.
type judgement struct {
	report     *audit.Report
	namespaces func() []string
	byKey      func() map[string]*finding.Finding
	by         func() map[string]string // the finding that another is shown under
	picture    func() []byte            // the map as JSON, which names no pods: it is the same for all
}

func newJudgement(r *audit.Report) *judgement {
	own := *r
	own.View = r.View.Aside()
	for range own.View.PodsOn("") { // builds its index, once for all copies
		break
	}
	j := &judgement{report: &own}
	j.namespaces = sync.OnceValue(func() []string { return namespacesOf(j.look().View) })
	j.byKey = sync.OnceValue(func() map[string]*finding.Finding {
		out := map[string]*finding.Finding{}
		for _, fs := range [][]finding.Finding{own.Folded, own.Suppressed, own.Unconfirmed, own.Findings} {
			for i := range fs {
				out[fs[i].Key()] = &fs[i]
			}
		}
		return out
	})
	j.by = sync.OnceValue(func() map[string]string {
		out := map[string]string{}
		for _, fs := range [][]finding.Finding{own.Unconfirmed, own.Findings} {
			for i := range fs {
				for _, k := range fs[i].Explains {
					out[k] = fs[i].Key()
				}
			}
		}
		return out
	})
	j.picture = sync.OnceValue(func() []byte {
		b, err := json.Marshal(ipammap.Of(j.look()))
		if err != nil {
			panic(err) // it has only text and numbers
		}
		return b
	})
	return j
}

// look is the report for one goroutine.
func (j *judgement) look() *audit.Report {
	own := *j.report
	own.View = j.report.View.Aside()
	return &own
}
