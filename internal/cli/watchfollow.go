package cli

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/calico"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// maxBatch bounds how many changes are judged together: who comes behind them waits.
const maxBatch = 200

// follow reads all once and follows it, until it cannot.
func (g *global) follow(ctx context.Context, f checkFlags, opts audit.Options, p *printed) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := g.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	p.reached = true
	w := &watchLoop{g: g, c: c, f: f, printed: p}
	if err := w.keepTo(ctx, &opts); err != nil {
		return err
	}
	tell, done := g.progress()
	w.src, w.began = c.source(false), time.Now() //nolint:forbidigo // how long ago it was read
	s := observe.Snapshot(ctx, tell, w.src.Collectors...)
	w.src.Adjust(s)
	done()
	if err := ctx.Err(); err != nil {
		return err
	}
	w.taken = s.Meta.Taken
	since := w.divide(s)
	if w.live, err = audit.NewLive(s, opts); err != nil {
		return err
	}
	w.live.Adjust = w.src.Adjust
	w.live.Recall(g.recall(w.live.GUID()))
	changes, ended := make(chan []observe.Change, 64), make(chan error, len(w.followers()))
	for _, one := range w.followers() {
		go func() {
			err := one.Follow(ctx, since, func(cs []observe.Change) {
				select {
				case changes <- cs:
				case <-ctx.Done():
				}
			})
			ended <- err
		}()
	}
	return w.run(ctx, changes, ended)
}

// A watchLoop is one run of a watch, from reading all to where it can follow no longer.
type watchLoop struct {
	g       *global
	c       *cluster
	f       checkFlags
	printed *printed
	src     audit.Source
	live    *audit.Live
	began   time.Time
	taken   model.Time
	again   []observe.Collector // of what nobody tells the changes of
	tables  []model.Table       // those tables
	pods    atomic.Pointer[map[string]bool]
	adopted bool // all was judged once
	shown   bool // the first look is over
}

// now is the API server's time, by ours.
func (w *watchLoop) now() model.Time { return w.taken.Add(time.Since(w.began)) }

func (w *watchLoop) followers() []observe.Follower {
	out := []observe.Follower{kube.Follower{Client: w.c.client}}
	switch l := w.c.calicoSource.(type) {
	case *calico.CRDs:
		out = append(out, calico.CRDFollower{CRDs: l, Watcher: w.c.client})
	case *calico.Etcd:
		out = append(out, calico.EtcdFollower{EtcdOptions: w.g.etcd})
	}
	return out
}

// divide tells after which revisions to follow, and notes what cannot be followed: that is
// read again every while, as what was not seen is.
func (w *watchLoop) divide(s *model.Snapshot) map[model.Table]string {
	since := map[model.Table]string{}
	for _, f := range w.followers() {
		for _, c := range s.Coverage {
			if c.Node == "" && c.State == model.Complete && c.Revision != "" && slices.Contains(f.Tables(), c.Table) {
				since[c.Table] = c.Revision
			}
		}
	}
	for _, c := range w.src.Collectors {
		left := slices.DeleteFunc(slices.Clone(c.Tables()), func(t model.Table) bool { return since[t] != "" || t.OfNode() })
		if len(left) > 0 {
			w.again, w.tables = append(w.again, c), append(w.tables, left...)
		}
	}
	if w.g.verbose {
		fmt.Fprintf(w.g.Stderr, "following %d tables; read again every %s: %v\n", len(since), every, w.tables)
	}
	return since
}

// keepTo keeps to findings about pods with the labels that were asked for.
func (w *watchLoop) keepTo(ctx context.Context, opts *audit.Options) error {
	if w.f.selector == "" {
		return nil
	}
	before := opts.Keep
	opts.Keep = func(x *finding.Finding) bool { return aboutAny(x, *w.pods.Load()) && (before == nil || before(x)) }
	return w.selected(ctx)
}

func (w *watchLoop) selected(ctx context.Context) error {
	if w.f.selector == "" {
		return nil
	}
	pods, err := w.c.client.Selected(ctx, w.f.namespace, w.f.selector)
	if err == nil {
		w.pods.Store(&pods)
	}
	return err
}
