// Package audit is the one way from looking to findings: observe, judge, look again,
// settle, fold. It knows no command line and no HTTP.
package audit

import (
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A Source is where the books are.
type Source struct {
	Collectors []observe.Collector
	Kubernetes observe.Rereader // Kubernetes, live; nil if nothing can be looked at again
	Calico     observe.Rereader // Calico's datastore, live
	Nodes      observe.Rereader // the nodes themselves, live; nil if nobody is there to ask
	// Adjust completes what the collectors read from one book with what another says.
	Adjust func(*model.Snapshot)
}

// Options say how to judge.
type Options struct {
	Detectors []*detect.Detector
	Settle    time.Duration                   // instead of each class's own time; 0 means those
	Recall    func(clusterGUID string) Memory // what earlier runs saw; may be nil
	Suppress  []Suppression
	Progress  func(name string, rows int, done bool)
	Keep      func(*finding.Finding) bool // which findings are asked for; nil means all
}

// A Report is what came out.
type Report struct {
	View   *model.View
	Taken  model.Time
	Calico detect.Calico

	Findings    []finding.Finding // confirmed, worst first
	Unconfirmed []finding.Finding
	Suppressed  []finding.Finding
	Folded      []finding.Finding // what others explain
	Skipped     []detect.Skip
	Gaps        []model.Coverage // in scope, and not seen in full
	MassChanges []string         // headlines of the massChanges
	Judged      map[finding.Code]int
	Memory      Memory // for the next run
}

// RecheckAfter is when the last suspicion can be decided; zero if none can by waiting.
func (r *Report) RecheckAfter() model.Time {
	var t model.Time
	for i := range r.Unconfirmed {
		t = max(t, r.Unconfirmed[i].RecheckAfter)
	}
	return t
}

// Unread tells whether one of the named books was not seen in full.
func (r *Report) Unread(books []string) bool {
	for _, b := range books {
		if b == "node" {
			if !r.View.Agents() || slices.ContainsFunc(r.Gaps, func(c model.Coverage) bool { return c.Node != "" }) {
				return true
			}
			continue
		}
		want := []model.Table{model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Nodes, model.Services}
		if b == "ledger" {
			want = []model.Table{model.Cluster, model.Pools, model.Blocks, model.Handles, model.HandleCounts, model.Affinities, model.Endpoints}
		}
		for _, t := range want {
			if !r.View.State(t, "").Seen() {
				return true
			}
		}
	}
	return false
}
