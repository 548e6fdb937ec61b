package calico

import (
	"context"
	"errors"
	"net/url"
	"sync"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A Watcher reports the changes of a collection of the Kubernetes API after a revision
// (none: its current items first), until ctx ends or the changes are no longer available.
type Watcher interface {
	Watch(ctx context.Context, path string, query url.Values, since string, each observe.Heard) error
}

// CRDFollower reports changes of the Calico datastore in custom resources. A table whose
// list has no revision is not followed; a resource with a single instance is reread at each
// event.
type CRDFollower struct {
	CRDs    *CRDs
	Watcher Watcher
}

var _ observe.Follower = CRDFollower{}

// Tables lists what is followed.
func (CRDFollower) Tables() []model.Table {
	return []model.Table{
		model.Cluster, model.Collector, model.Pools, model.Reservations, model.Blocks, model.Handles, model.HandleCounts, model.Affinities,
	}
}

// Follow watches all of them concurrently.
func (f CRDFollower) Follow(ctx context.Context, since map[model.Table]string, tell func([]observe.Change)) error {
	g := observe.Gather(tell)
	defer g.Flush()
	streams := []func(context.Context) error{observe.UntilEnd}
	add := func(t model.Table, resource string, each observe.Heard) {
		if since[t] != "" {
			streams = append(streams, func(ctx context.Context) error {
				return f.Watcher.Watch(ctx, f.CRDs.path(resource), nil, since[t], each)
			})
		}
	}
	add(model.Handles, "ipamhandles", hear(g, parsed("ipamhandles", handleRow), (*model.Handle).Ref, func(h *model.Handle) string { return h.Revision }))
	add(model.Blocks, "ipamblocks", hear(g, parsed("ipamblocks", blockRow), (*model.Block).Ref, func(b *model.Block) string { return b.Revision }))
	add(model.Affinities, "blockaffinities", hear(g, labelledAffinity, (*model.Affinity).Ref, func(a *model.Affinity) string { return a.Revision }))
	add(model.Pools, "ippools", hear(g, parsed("ippools", poolRow), (*model.Pool).Ref, func(p *model.Pool) string { return p.Revision }))
	add(model.Reservations, "ipreservations", hearReservation(g))
	for _, s := range f.singles() {
		streams = append(streams, func(ctx context.Context) error { return f.follow(ctx, g, s) })
	}
	return observe.Together(ctx, streams...)
}

func parsed[T any](resource string, row func([]byte, origin) (T, error)) func([]byte) (T, error) {
	return func(item []byte) (T, error) { return parseRow(resource, item, row) }
}

// hear turns each event into a change of one row.
func hear[T any](g *observe.Gatherer, parse func([]byte) (T, error), ref func(*T) model.Ref, revision func(*T) string) observe.Heard {
	return func(object []byte, gone bool) (string, error) {
		c := observe.Change{At: observe.Now()}
		row, err := parse(object)
		if err != nil {
			return "", err
		}
		c.Ref = ref(&row)
		if !gone {
			c.Row = &row
		}
		g.Add(c)
		return revision(&row), nil
	}
}

// hearReservation is hear for reservations, whose rows have no revision.
func hearReservation(g *observe.Gatherer) observe.Heard {
	each := hear(g, parsed("ipreservations", reservationRow), reservationRef, func(*model.Reservation) string { return "" })
	return func(object []byte, gone bool) (string, error) {
		if _, err := each(object, gone); err != nil {
			return "", err
		}
		return revisionOf("ipreservations", object)
	}
}

func revisionOf(kind string, object []byte) (string, error) {
	o, err := parseObject(kind, object)
	return o.Metadata.ResourceVersion, err
}

func reservationRef(r *model.Reservation) model.Ref {
	return model.Ref{Kind: observe.KindReservation, Name: r.Name}
}

// A single is a row that is built from objects of one or more resources.
type single struct {
	turn     *sync.Mutex // one after the other: what was read last is reported last
	resource string
	read     observe.Collector
	row      func(*model.Snapshot) observe.Change
}

func (f CRDFollower) singles() []single {
	config := "ipamconfigs"
	if f.CRDs.Group == groupV3 {
		config = "ipamconfigurations"
	}
	var turn sync.Mutex
	return []single{
		{&turn, "clusterinformations", singles{f.CRDs, true}, infoChange},
		{&turn, config, singles{f.CRDs, true}, infoChange},
		{&turn, "felixconfigurations", singles{f.CRDs, true}, infoChange},
		{&turn, "kubecontrollersconfigurations", collectorConfig{f.CRDs}, collectorChange},
	}
}

// follow rereads a single whenever one of its objects changes. A cluster need not have it.
func (f CRDFollower) follow(ctx context.Context, g *observe.Gatherer, s single) error {
	err := f.Watcher.Watch(ctx, f.CRDs.path(s.resource), nil, "", func(object []byte, _ bool) (string, error) {
		rev, err := revisionOf(s.resource, object)
		if err == nil {
			err = reread(ctx, g, s)
		}
		return rev, err
	})
	if errors.Is(err, observe.ErrNotThere) {
		return nil
	}
	return err
}

// reread reports a row as it is now.
func reread(ctx context.Context, g *observe.Gatherer, s single) error {
	at := observe.Now()
	s.turn.Lock()
	defer s.turn.Unlock()
	var b model.Builder
	if _, err := s.read.Collect(ctx, &b); err != nil && !errors.Is(err, observe.ErrNotThere) {
		return &observe.Broken{Err: err}
	}
	c := s.row(b.Snapshot())
	c.At = at
	g.Add(c)
	return nil
}

func infoChange(s *model.Snapshot) observe.Change {
	c := observe.Change{Ref: observe.ClusterRef}
	if len(s.Info) > 0 {
		c.Row = &s.Info[0]
	}
	return c
}

func collectorChange(s *model.Snapshot) observe.Change {
	c := observe.Change{Ref: observe.CollectorRef}
	if len(s.Collector) > 0 {
		c.Row = &s.Collector[0]
	}
	return c
}
