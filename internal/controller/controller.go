// Package controller watches a cluster all the time: what check would report becomes objects and
// Events. One of several replicas does so, the leader; it changes nothing but its own objects.
package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/controller/objects"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/kube/lead"
	"plumbline.dev/plumbline/internal/kube/own"
	"plumbline.dev/plumbline/internal/kube/review"
	"plumbline.dev/plumbline/internal/metrics"
)

// Options of the controller.
type Options struct {
	Cluster   cluster.Options
	Namespace string // of its Lease
	Pod       string // its own name
	Listen    string // address of probes; empty: none
	Serve     string // address on which all findings are served; empty: none
	UI        bool   // serve the UI there too; keeps the last judgement in memory
	Settle    time.Duration
	Log       *slog.Logger
}

// Run takes part in the election until ctx ends, and leads if elected. It ends with an error if it leads no
// longer: a new process begins anew.
func Run(ctx context.Context, o Options) error {
	client, err := kube.Connect(o.Cluster.Kube)
	if err != nil {
		return err
	}
	store, err := own.New(client, o.Pod)
	if err != nil {
		return err
	}
	h, n := &health{}, newNumbers()
	if err := h.serve(ctx, o.Listen, metrics.Handler(n.now, n.judge), o.Log); err != nil {
		return err
	}
	served, ui, err := serveRows(ctx, client, o)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	e := lead.Election{
		Client: client, Namespace: o.Namespace, Name: o.Pod, Annotations: served.published(), Log: o.Log,
		Elected: func(name string) {
			o.Log.Info("elected", "leader", name)
			h.elected(name == o.Pod)
			n.elected(name == o.Pod)
		},
		Lead: func(leads context.Context) {
			if err := (&leader{Options: o, store: store, health: h, rows: served, ui: ui, numbers: n}).run(leads); leads.Err() == nil {
				end(err)
			}
		},
	}
	if err := e.Run(ctx); err != nil {
		return err
	}
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return errors.New("the Lease could not be renewed in time: another may lead now")
	case errors.Is(cause, context.Canceled):
		return nil
	default:
		return cause
	}
}

// serveRows begins to serve all findings, and the UI if that is asked for.
func serveRows(ctx context.Context, client *kube.Client, o Options) (*rows, *pages, error) {
	r := newRows()
	cfg, _, err := client.Guarded(func(string, string) bool { return false })
	if err != nil {
		return nil, nil, err
	}
	reviewer, err := review.NewFor(cfg)
	if err != nil {
		return nil, nil, err
	}
	var ui *pages
	if o.UI {
		ui = newPages(func(ctx context.Context, owner any, namespace string) (bool, error) {
			if namespace == "" { // who may read the state of all nodes reads there what they have of every pod
				if ok, err := reviewer.Authorize(ctx, owner, "get", agent.Group, agent.Resource, "", ""); ok || err != nil {
					return ok, err
				}
			}
			return reviewer.Authorize(ctx, owner, "list", "", "pods", namespace, "")
		})
	}
	return r, ui, r.serve(ctx, o.Serve, reviewer, ui, o.Log)
}

// A leader is the replica that was elected.
type leader struct {
	Options
	store  *own.Store
	health *health
	rows   *rows
	ui     *pages // nil: none
	*numbers
}

func (l *leader) run(ctx context.Context) error {
	have, err := l.store.List(ctx)
	if err != nil {
		return fmt.Errorf("list findings: %w", err)
	}
	accept := &accepted{store: l.store, log: l.Log}
	if err := accept.read(ctx); err != nil {
		l.Log.Warn("suppressions not read: nothing is hidden", "error", err)
	}
	go accept.run(ctx)
	board := objects.NewBoard(title)
	board.Adopt(have)
	p := newPublisher(l.store, l.Log, have, l.health.wrote)
	rules := newPolicies(l.store, l.Log, l.shadowed)
	go rules.run(ctx)
	p.answerNext = func(ctx context.Context) bool { return accept.answerNext(ctx) || rules.answerNext(ctx) }
	go p.run(ctx)
	w := cluster.Watch{Options: l.Cluster, Audit: audit.Options{Detectors: detect.All, Settle: l.Settle, Suppress: accept.list}, Each: func(pass cluster.Pass) {
		accept.judge(pass.Report)
		told := board.Take(pass.Report)
		p.publish(board.Objects(), told)
		if l.ui != nil {
			l.ui.state.Put(pass.Report)
		}
		if !pass.Reread { // else all but a few rows are those of the judgement before
			rules.judged(pass)
			l.health.judged()
		}
		l.judged(pass, board.Counts(), time.Now()) //nolint:forbidigo // Prometheus compares it with its own clock
		l.rows.take(pass, l.grow)
	}}
	w.Restored = objects.Restored(have)
	w.Notice = func(s string) {
		l.Log.Warn(s)
		if l.ui != nil {
			l.ui.state.Notice(s)
		}
	}
	return w.Run(ctx)
}

// title is what a code means.
func title(c finding.Code) string {
	for _, d := range detect.All {
		if d.Code == c {
			return d.Title
		}
	}
	if c == finding.PL9004 {
		return "suppression expired"
	}
	return string(c)
}
