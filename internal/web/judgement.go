package web

import (
	"maps"
	"slices"
	"sync"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A judgement is a report with what pages look up in it. It is read by several goroutines; each has a view of its own.
type judgement struct {
	report     *audit.Report
	namespaces func() []string
	byKey      func() map[string]*finding.Finding
	by         func() map[string]string // the finding that another is shown under
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
	return j
}

// look is the report for one goroutine.
func (j *judgement) look() *audit.Report {
	own := *j.report
	own.View = j.report.View.Aside()
	return &own
}

// namespacesOf are those of pods, and of what is left of pods and services that are gone.
func namespacesOf(v *model.View) []string {
	s := v.Snapshot()
	all := map[string]bool{}
	for i := range s.Pods {
		all[s.Pods[i].Namespace] = true
	}
	for i := range s.Endpoints {
		all[s.Endpoints[i].Namespace] = true
	}
	for i := range s.Services {
		all[s.Services[i].Namespace] = true
	}
	for i := range s.VMs {
		all[s.VMs[i].Namespace] = true
	}
	for i := range s.Blocks {
		for k := range s.Blocks[i].Attributes {
			all[s.Blocks[i].Attributes[k].Namespace] = true
		}
	}
	for _, n := range s.NodeState {
		for i := range n.Sandboxes {
			all[n.Sandboxes[i].Namespace] = true
		}
	}
	delete(all, "")
	return slices.Sorted(maps.Keys(all))
}
