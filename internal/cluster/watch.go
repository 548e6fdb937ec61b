package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/internal/repair"
)

// pollEvery is how often is read what no watch reports the changes of.
const pollEvery = 20 * time.Second

// How long Watch waits before it reads everything again after it could not follow any more,
// and how long following must have gone well for the shortest pause.
const (
	firstPause = 2 * time.Second
	lastPause  = 2 * time.Minute
	wentWell   = 5 * time.Minute
)

// A Pass is one judgement of a followed cluster, or a reread of what was due since.
type Pass struct {
	*audit.Report
	Took    time.Duration // to judge
	Reread  bool          // only what was due was read again: all else is as it was judged before
	Changed time.Time     // when the first change that it is the first to contain was received; zero if there was none
	Agents  *AgentCount   // nil if agents are not watched
	// Plan plans the repair of findings of the report, and writes nothing.
	Plan func(ctx context.Context, r *audit.Report, chosen []finding.Finding) *repair.Plan
}

func (c *Cluster) simplePlan(ctx context.Context, r *audit.Report, chosen []finding.Finding) *repair.Plan {
	return c.Plan(ctx, r, chosen, PlanOptions{})
}

// An AgentCount is how agents are reached.
type AgentCount struct {
	Watched, Asked, Silent int
	Lag                    time.Duration // the longest time for which a watched one has sent nothing
}

// A Watch follows a cluster and judges it again and again.
type Watch struct {
	Options
	Audit     audit.Options
	Namespace string     // of Labels; empty means all
	Labels    string     // only findings about pods with these labels
	Each      func(Pass) // is called after each judgement, by one goroutine
}

// Run opens the cluster, follows it, and goes on until ctx ends. What interrupts it is told
// by Notice, and everything is read again after a pause. It ends with an error only if the
// cluster could not be opened at first.
func (w *Watch) Run(ctx context.Context) error {
	reached := false
	w.lineage = newLineage(&w.Options) // it lasts longer than one opened cluster
	each := w.Each
	w.Each = func(p Pass) { reached = true; each(p) }
	poll := w.Quick || w.Probe.Image != ""
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		began := time.Now() //nolint:forbidigo // compared with itself alone
		err := w.once(ctx, &reached, poll)
		switch {
		case ctx.Err() != nil:
			return nil
		case !reached:
			return err // it was never there: rather the wrong cluster than one that comes back
		case errors.Is(err, observe.ErrDuplicate):
			w.Notice(fmt.Sprintf("%v: changes cannot be followed; everything is read again every %s", err, pollEvery))
			poll, pause = true, firstPause
			continue
		case time.Since(began) > wentWell:
			pause = firstPause
		}
		w.Notice(fmt.Sprintf("%v; everything is read again in %s", err, pause))
		if observe.Wait(ctx, pause) != nil {
			return nil
		}
	}
}

// once opens the cluster and follows it, or polls it, until it cannot.
func (w *Watch) once(ctx context.Context, reached *bool, poll bool) error {
	c, err := Open(ctx, w.Options)
	if err != nil {
		return err
	}
	defer c.Close()
	*reached = true
	o := w.Audit
	o.Recall = c.o.recall
	chosen := &selection{c: c, namespace: w.Namespace, labels: w.Labels}
	if err := chosen.read(ctx); err != nil {
		return err
	}
	if w.Labels != "" {
		before := o.Keep
		o.Keep = func(f *finding.Finding) bool { return chosen.has(f) && (before == nil || before(f)) }
	}
	series := audit.NewSeries(o)
	if !poll {
		f := &following{Cluster: c, series: series, selection: chosen, each: w.Each}
		return f.run(ctx)
	}
	for {
		src := c.Source()
		began := time.Now() //nolint:forbidigo // how long it took
		s := observe.Snapshot(ctx, c.o.Progress, src.Collectors...)
		src.Adjust(s)
		r := series.Judge(ctx, s, src)
		if err := ctx.Err(); err != nil {
			return err
		}
		w.Each(Pass{Report: r, Took: time.Since(began), Plan: c.simplePlan})
		c.remember(s.Meta.GUID, series.Memory())
		if err := observe.Wait(ctx, pollEvery); err != nil {
			return err
		}
		if err := errors.Join(chosen.read(ctx), c.findAgents(ctx)); err != nil {
			return err
		}
	}
}

// A selection is the pods that have the labels that were asked for.
type selection struct {
	c                 *Cluster
	namespace, labels string
	pods              atomic.Pointer[map[string]bool] // read by judgements while it is read again
}

func (s *selection) read(ctx context.Context) error {
	if s.labels == "" {
		return nil
	}
	pods, err := s.c.client.Selected(ctx, s.namespace, s.labels)
	if err == nil {
		s.pods.Store(&pods)
	}
	return err
}

func (s *selection) has(f *finding.Finding) bool { return about(f, *s.pods.Load()) }

// about tells that a finding is about one of the pods, which are named NAMESPACE/NAME.
func about(f *finding.Finding, pods map[string]bool) bool {
	for _, r := range f.About {
		if r.Kind == model.KindPod && pods[r.Name] {
			return true
		}
	}
	return false
}
