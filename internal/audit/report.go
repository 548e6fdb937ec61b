// Package audit turns a cluster into findings: read the sources, run the detectors, reread
// the objects of unconfirmed findings, confirm, suppress, fold. It has no command line and no
// HTTP.
package audit

import (
	"context"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A Source is where the cluster is read from.
type Source struct {
	Collectors []observe.Collector
	Kubernetes observe.Rereader // Kubernetes; nil if objects cannot be reread (a bundle)
	Calico     observe.Rereader // the Calico datastore; nil like Kubernetes
	Nodes      observe.Rereader // the agents; nil if there are none
	// Ways reads the ways of some buckets of some nodes row by row; nil if they are there, or cannot be
	// read.
	Ways func(ctx context.Context, s *model.Snapshot, open map[string][]int)
	// Adjust completes rows of one source with those of another.
	Adjust func(*model.Snapshot)
}

// Options control the evaluation.
type Options struct {
	Detectors []*detect.Detector
	Settle    time.Duration                   // minimum duration for all classes; 0: each class's own
	Recall    func(clusterGUID string) Memory // observations of earlier runs; may be nil
	Suppress  func() []Suppression            // is asked at each judgement; may be nil
	Progress  func(name string, rows int, done bool)
	Keep      func(*finding.Finding) bool // which findings to report; nil means all
}

// A Report is the result of one check. Every finding is in exactly one of the four lists.
type Report struct {
	View   *model.View
	Taken  model.Time
	Calico detect.Calico

	Findings    []finding.Finding // confirmed, highest severity first
	Unconfirmed []finding.Finding // likewise
	Suppressed  []finding.Finding // confirmed or not
	Suppressing []Suppression     // by which they are
	Folded      []finding.Finding // shown under another finding, confirmed or not
	Skipped     []detect.Skip
	Gaps        []model.Coverage // tables that were not read completely, or not in the reread
	MassChanges []string         // one line per code that affects too many subjects
	Judged      map[finding.Code]int
	Memory      Memory // for the next run
}

// RecheckAfter is when the last unconfirmed finding can be confirmed; zero if waiting
// confirms none.
func (r *Report) RecheckAfter() model.Time {
	var t model.Time
	for i := range r.Unconfirmed {
		t = max(t, r.Unconfirmed[i].RecheckAfter)
	}
	return t
}

// The tables of the sources kubernetes and calico.
var (
	kubernetesTables = []model.Table{model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Nodes, model.Services}
	calicoTables     = []model.Table{model.Cluster, model.Pools, model.Blocks, model.Handles, model.HandleCounts, model.Affinities, model.Endpoints}
	// Sources are all of them.
	Sources = slices.Concat(kubernetesTables, calicoTables)
)

// SourceOf is kubernetes or calico; empty for tables that judging does without.
func SourceOf(t model.Table) string {
	switch {
	case slices.Contains(kubernetesTables, t):
		return "kubernetes"
	case slices.Contains(calicoTables, t):
		return "calico"
	default:
		return ""
	}
}

// Unread reports whether one of the named sources was not read completely.
func (r *Report) Unread(sources []string) bool {
	for _, b := range sources {
		if b == "node" {
			if !r.View.Agents() || slices.ContainsFunc(r.Gaps, func(c model.Coverage) bool { return c.Node != "" }) {
				return true
			}
			continue
		}
		want := kubernetesTables
		if b == "calico" {
			want = calicoTables
		}
		for _, t := range want {
			if !r.View.State(t, "").Seen() {
				return true
			}
		}
	}
	return false
}
