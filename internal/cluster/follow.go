package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/calico"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A following is a cluster whose rows are kept current by watches, from the first whole read
// to where a watch can follow no longer. Its rows are changed by one goroutine (run); a
// judgement works on a snapshot of its own.
type following struct {
	*Cluster
	*selection
	series *audit.Series
	each   func(Pass)

	src    audit.Source
	rows   *observe.Rows
	began  time.Time
	heard  time.Time             // when agents were last found
	taken  model.Time            // the API server's time at began
	nodes  *agent.Streams        // the nodes, watched; nil if their agents are asked again and again
	keep   func(nodes []string)  // watches these
	found  atomic.Pointer[fleet] // the agents that were found last
	timed  atomic.Pointer[fleet] // the last of them that knows the API server\'s time
	again  []observe.Collector   // of tables whose changes no watch reports
	tables []model.Table         // those tables

	restated bool // nodes have other rows since they were last taken
	judging  bool
	dirty    bool      // something changed since the last snapshot was taken
	changed  time.Time // when the first such change was received
	next     time.Time // not before then is the next judgement
	reread   time.Time // nor what is due reread
}

// now is the API server's time, by our clock.
func (f *following) now() model.Time { return f.taken.Add(time.Since(f.began)) }

func (f *following) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.src, f.began, f.heard = f.Source(), time.Now(), time.Now() //nolint:forbidigo // how long ago it was read
	if f.o.Direct {
		f.watchNodes(ctx)
	}
	s := observe.Snapshot(ctx, f.o.Progress, f.src.Collectors...)
	if err := ctx.Err(); err != nil {
		return err
	}
	f.taken = s.Meta.Taken
	if f.nodes != nil {
		f.awaitNodes(ctx)
		s.PutFacts(f.nodes.Snapshot())
	}
	since := f.divide(s)
	var err error
	if f.rows, err = observe.NewRows(s); err != nil {
		return err
	}
	followers := f.followers()
	changes, ended := make(chan []observe.Change, 64), make(chan error, len(followers))
	for _, one := range followers {
		go func() {
			ended <- one.Follow(ctx, since, func(cs []observe.Change) {
				select {
				case changes <- cs:
				case <-ctx.Done():
				}
			})
		}()
	}
	return f.loop(ctx, s.Meta.GUID, changes, ended)
}

func (f *following) followers() []observe.Follower {
	out := []observe.Follower{kube.Follower{Client: f.client}}
	switch l := f.calico.(type) {
	case *calico.CRDs:
		out = append(out, calico.CRDFollower{CRDs: l, Watcher: f.client})
	case *calico.Etcd:
		out = append(out, calico.EtcdFollower{EtcdOptions: f.o.Etcd})
	}
	return out
}

// divide tells after which revisions to follow, and notes the tables that cannot be
// followed, or could not be read: those are read again every while.
func (f *following) divide(s *model.Snapshot) map[model.Table]string {
	since := map[model.Table]string{}
	for _, w := range f.followers() {
		for _, c := range s.Coverage {
			if c.Node == "" && c.State == model.Complete && c.Revision != "" && slices.Contains(w.Tables(), c.Table) {
				since[c.Table] = c.Revision
			}
		}
	}
	for _, c := range f.src.Collectors {
		left := slices.DeleteFunc(slices.Clone(c.Tables()), func(t model.Table) bool { return since[t] != "" || t.OfNode() })
		if len(left) > 0 {
			f.again, f.tables = append(f.again, c), append(f.tables, left...)
		}
	}
	return since
}

// A reading is what was read again because no watch reports it.
type reading struct {
	s     *model.Snapshot
	fleet *fleet // nil if there are no agents
	err   error
}

// loop takes changes and readings, and judges whenever something is new and it is time.
func (f *following) loop(ctx context.Context, guid string, changes <-chan []observe.Change, ended <-chan error) error {
	judged, read := make(chan Pass, 1), make(chan reading, 1)
	poll, tick := time.NewTicker(pollEvery), time.NewTicker(shortestPause)
	defer poll.Stop()
	defer tick.Stop()
	var restated <-chan struct{}
	if f.nodes != nil {
		restated = f.nodes.Changed()
	}
	asking := false
	f.dirty = true
	for {
		f.judge(ctx, judged)
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err = <-ended:
			if err == nil {
				err = errors.New("the watch has ended")
			}
		case cs := <-changes:
			err = f.put(cs)
		case <-restated:
			f.heardNodes()
		case p := <-judged:
			f.rest(p)
			if p.Report == nil {
				break
			}
			p.Agents, p.Plan = f.countAgents(), f.simplePlan
			f.each(p)
			f.remember(guid, f.series.Memory())
		case r := <-read:
			asking = false
			err = f.take(r)
		case <-poll.C:
			if !asking {
				asking = true
				nodes := f.rows.Nodes()
				go func() { read <- f.read(ctx, nodes) }()
			}
		case <-tick.C:
			f.rereadDue(ctx, judged)
		}
		if err != nil {
			return err
		}
	}
}

// put takes changes that a watch reported.
func (f *following) put(cs []observe.Change) error {
	if !f.dirty || f.changed.IsZero() {
		f.changed = cs[0].At
	}
	f.dirty = true
	return f.rows.Put(cs)
}

// rereadDue rereads what is due before the next judgement: that may be many seconds away.
func (f *following) rereadDue(ctx context.Context, done chan<- Pass) {
	began := time.Now() //nolint:forbidigo // compared with itself alone
	if f.judging || began.Before(f.reread) {
		return
	}
	now, src := f.now(), f.src
	if due := f.series.Due(); due.IsZero() || due > now {
		return
	}
	f.judging = true
	go func() { done <- Pass{Report: f.series.Again(ctx, now, src), Took: time.Since(began), Reread: true} }()
}

// rest takes the end of a judgement or a reread, and says when the next of them may begin.
func (f *following) rest(p Pass) {
	now := time.Now() //nolint:forbidigo // compared with itself alone
	f.judging = false
	if p.Reread {
		f.reread, f.next = now.Add(max(2*p.Took, rereadPause)), later(f.next, now.Add(p.Took))
	} else {
		f.next = now.Add(restAfter(p.Took))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// The pace of judgements. One takes at most half a core; it follows another after at most
// six seconds, unless that would be more.
const (
	shortestPause = 200 * time.Millisecond
	longestPause  = 6 * time.Second
	rereadPause   = time.Second
	share         = 20 // a cheap judgement takes one part in twenty
)

// restAfter is how long to rest after a judgement that took so long.
func restAfter(took time.Duration) time.Duration {
	return max(took, shortestPause, min(longestPause, share*took)-took)
}

// judge begins a judgement if something is new, none is under way, and it is time.
func (f *following) judge(ctx context.Context, done chan<- Pass) {
	began := time.Now() //nolint:forbidigo // compared with itself alone
	if f.judging || !f.dirty || began.Before(f.next) {
		return
	}
	if f.restated {
		f.restated = false
		f.rows.PutNodes(f.nodes.Snapshot())
	}
	s := f.rows.Snapshot(f.now())
	f.src.Adjust(s)
	src, changed := f.src, f.changed
	f.judging, f.dirty, f.changed = true, false, time.Time{}
	go func() {
		r := f.series.Judge(ctx, s, src)
		done <- Pass{Report: r, Took: time.Since(began), Changed: changed}
	}()
}

// read reads what no watch reports, and asks the nodes. Agents are listed each time: they
// come and go.
func (f *following) read(ctx context.Context, nodes []model.Node) reading {
	if err := f.selection.read(ctx); err != nil {
		return reading{err: err}
	}
	fleet, err := f.agents(ctx)
	if err != nil {
		return reading{err: fmt.Errorf("list agents: %w", err)}
	}
	again := slices.Clone(f.again)
	if fleet != nil && f.nodes == nil {
		again = append(again, fleet)
	}
	s := observe.Snapshot(ctx, func(string, int, bool) {}, again...)
	if fleet != nil && f.nodes == nil {
		followed := &model.Snapshot{Nodes: nodes}
		fleet.complete(followed)
		s.PutFacts(followed)
	}
	return reading{s: s, fleet: fleet}
}

// nodesOld is how long what nodes reported holds while their agents cannot be found any more.
const nodesOld = 2 * time.Minute

// take takes what was read again. What could not be read is told, and is no reason to read
// everything again; what nodes reported long ago counts as not read.
func (f *following) take(r reading) error {
	if r.err != nil {
		f.o.Notice(r.err.Error())
		if f.fleet != nil && f.nodes == nil && time.Since(f.heard) > nodesOld {
			f.rows.PutNodes(agent.Silent(r.err.Error(), f.fleet.Nodes...))
			f.dirty = true
		}
		return nil
	}
	f.heard = time.Now() //nolint:forbidigo // how long ago it was read
	if f.fleet = r.fleet; r.fleet != nil {
		f.src.Nodes = r.fleet
	} else {
		f.src.Nodes = nil
	}
	if f.nodes != nil {
		f.keepNodes()
	} else {
		f.rows.PutNodes(r.s)
	}
	f.dirty = true
	return f.rows.Replace(r.s, f.tables...)
}
