package observe

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// ErrDuplicate means that two objects have one name, so that a change of the one cannot be
// told from a change of the other.
var ErrDuplicate = errors.New("two objects have one name")

// Rows are the rows of a cluster, kept current by changes. Invariant: they are what a whole
// read would have given at the moment of the last change. Not safe for several goroutines.
type Rows struct {
	meta     model.Meta
	coverage map[model.Table]model.Coverage // of the cluster's own tables
	nodes    model.Snapshot                 // NodeState and its coverage, as the nodes reported it last
	few      model.Snapshot                 // tables that have one row, or are only ever replaced as a whole

	byKind map[model.Kind]rowTable
	order  []rowTable
}

// A rowTable holds the rows of one kind, each under the name of its Ref.
type rowTable interface {
	put(c Change) error
	replace(read *model.Snapshot) error
	into(s *model.Snapshot)
}

// A rowsOf is such a table. Its rows keep their order from snapshot to snapshot, which saves
// sorting them: what is new stands at the end until there is so much of it that the order of
// the last snapshot is taken over, which its view has sorted.
type rowsOf[T any] struct {
	rows  map[string]*entry[T]
	order []*entry[T]
	added int // since the order was taken over
	given []T // the table of the last snapshot
	ref   func(*T) model.Ref
	slice func(*model.Snapshot) *[]T
	// object is the name of the object that a row was read from, where another object could
	// give a row of the same Ref; nil where the API server or etcd makes that impossible.
	object func(*T) string
}

type entry[T any] struct{ row *T } // nil: deleted

// NewRows takes the rows of a snapshot as they were read, before it is sealed.
func NewRows(s *model.Snapshot) (*Rows, error) {
	r := &Rows{meta: s.Meta, coverage: map[model.Table]model.Coverage{}, byKind: map[model.Kind]rowTable{}}
	r.few.Info, r.few.Collector, r.few.Components, r.few.Events = s.Info, s.Collector, s.Components, s.Events
	for _, err := range []error{
		keep(r, s, model.KindPod, func(s *model.Snapshot) *[]model.Pod { return &s.Pods }, (*model.Pod).Ref, nil),
		keep(r, s, model.KindNode, func(s *model.Snapshot) *[]model.Node { return &s.Nodes }, (*model.Node).Ref, nil),
		keep(r, s, model.KindHost, func(s *model.Snapshot) *[]model.Host { return &s.Hosts }, (*model.Host).Ref, nil),
		keep(r, s, model.KindService, func(s *model.Snapshot) *[]model.Service { return &s.Services }, (*model.Service).Ref, nil),
		keep(r, s, model.KindVM, func(s *model.Snapshot) *[]model.VM { return &s.VMs }, (*model.VM).Ref, nil),
		keep(r, s, model.KindPool, func(s *model.Snapshot) *[]model.Pool { return &s.Pools }, (*model.Pool).Ref, nil),
		keep(r, s, KindReservation, func(s *model.Snapshot) *[]model.Reservation { return &s.Reservations },
			func(o *model.Reservation) model.Ref { return model.Ref{Kind: KindReservation, Name: o.Name} }, nil),
		keep(r, s, model.KindEndpoint, func(s *model.Snapshot) *[]model.Endpoint { return &s.Endpoints }, (*model.Endpoint).Ref, nil),
		keep(r, s, model.KindBlock, func(s *model.Snapshot) *[]model.Block { return &s.Blocks }, (*model.Block).Ref, func(b *model.Block) string { return b.Name }),
		keep(r, s, model.KindHandle, func(s *model.Snapshot) *[]model.Handle { return &s.Handles }, (*model.Handle).Ref, func(h *model.Handle) string { return h.Name }),
		keep(r, s, model.KindAffinity, func(s *model.Snapshot) *[]model.Affinity { return &s.Affinities }, (*model.Affinity).Ref, func(a *model.Affinity) string { return a.Name }),
	} {
		if err != nil {
			return nil, err
		}
	}
	for _, c := range s.Coverage {
		if c.Node == "" {
			r.coverage[c.Table] = c
		}
	}
	r.PutNodes(s)
	return r, nil
}

func keep[T any](r *Rows, s *model.Snapshot, k model.Kind, slice func(*model.Snapshot) *[]T, ref func(*T) model.Ref, object func(*T) string) error {
	t := &rowsOf[T]{ref: ref, slice: slice, object: object}
	r.byKind[k] = t
	r.order = append(r.order, t)
	return t.replace(s)
}

func (t *rowsOf[T]) replace(read *model.Snapshot) error {
	rows := *t.slice(read)
	t.rows, t.order, t.added, t.given = make(map[string]*entry[T], len(rows)), make([]*entry[T], 0, len(rows)), 0, nil
	for i := range rows {
		if err := t.put(Change{Ref: t.ref(&rows[i]), Row: &rows[i]}); err != nil {
			return err
		}
	}
	return nil // all count as added: the order in which they were read is not that of a view
}

func (t *rowsOf[T]) put(c Change) error {
	e := t.rows[c.Ref.Name]
	if c.Row == nil {
		if e != nil {
			e.row = nil
			delete(t.rows, c.Ref.Name)
		}
		return nil
	}
	row, ok := c.Row.(*T)
	if !ok {
		return fmt.Errorf("a change of %s has a row of %T", c.Ref, c.Row)
	}
	if e == nil {
		e = &entry[T]{}
		t.rows[c.Ref.Name], t.order, t.added = e, append(t.order, e), t.added+1
	} else if t.object != nil && t.object(e.row) != t.object(row) {
		return fmt.Errorf("%s: objects %s and %s: %w", c.Ref, t.object(e.row), t.object(row), ErrDuplicate)
	}
	e.row = row
	return nil
}

func (t *rowsOf[T]) into(s *model.Snapshot) {
	if t.added > len(t.rows)/16 {
		t.takeOver()
	}
	out := make([]T, 0, len(t.rows))
	t.order = slices.DeleteFunc(t.order, func(e *entry[T]) bool { return e.row == nil })
	for _, e := range t.order {
		out = append(out, *e.row)
	}
	t.given, *t.slice(s) = out, out
}

// takeOver puts the entries into the order of the last snapshot, those that came since behind.
func (t *rowsOf[T]) takeOver() {
	order, placed := make([]*entry[T], 0, len(t.rows)), make(map[*entry[T]]bool, len(t.rows))
	for i := range t.given {
		if e := t.rows[t.ref(&t.given[i]).Name]; e != nil && !placed[e] {
			order, placed[e] = append(order, e), true
		}
	}
	rest := 0
	for _, e := range t.order {
		if e.row != nil && !placed[e] {
			order, rest = append(order, e), rest+1
		}
	}
	t.order, t.added = order, rest
}

// Put takes changes in the order in which they were received. The rows belong to Rows.
func (r *Rows) Put(changes []Change) error {
	for _, c := range changes {
		switch c.Ref.Kind {
		case model.KindCluster:
			if err := one(c, &r.few.Info); err != nil {
				return err
			}
		case model.KindCollector:
			if err := one(c, &r.few.Collector); err != nil {
				return err
			}
		default:
			t := r.byKind[c.Ref.Kind]
			if t == nil {
				return fmt.Errorf("a change of %s is not expected", c.Ref)
			}
			if err := t.put(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// one takes a change of a table that has one row.
func one[T any](c Change, rows *[]T) error {
	if c.Row == nil {
		*rows = nil
		return nil
	}
	row, ok := c.Row.(*T)
	if !ok {
		return fmt.Errorf("a change of %s has a row of %T", c.Ref, c.Row)
	}
	*rows = []T{*row}
	return nil
}

// Replace takes tables that were read again as a whole, because no watch reports their
// changes. A table that could not be read keeps its rows and is no longer covered.
func (r *Rows) Replace(read *model.Snapshot, tables ...model.Table) error {
	for _, c := range read.Coverage {
		if c.Node != "" || !slices.Contains(tables, c.Table) {
			continue
		}
		r.coverage[c.Table] = c
		if !c.State.Seen() {
			continue
		}
		switch c.Table {
		case model.Cluster:
			r.few.Info = read.Info
		case model.Collector:
			r.few.Collector = read.Collector
		case model.Components:
			r.few.Components = read.Components
		case model.Events:
			r.few.Events = read.Events
		default:
			if t := r.byKind[kindOf[c.Table]]; t != nil { // else a group of columns of another table
				if err := t.replace(read); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

var kindOf = map[model.Table]model.Kind{
	model.Pods: model.KindPod, model.Nodes: model.KindNode, model.Hosts: model.KindHost, model.Services: model.KindService, model.VMs: model.KindVM,
	model.Pools: model.KindPool, model.Reservations: KindReservation, model.Endpoints: model.KindEndpoint,
	model.Blocks: model.KindBlock, model.Handles: model.KindHandle, model.Affinities: model.KindAffinity,
}

// PutNodes takes what all nodes reported, in place of what they reported before.
func (r *Rows) PutNodes(said *model.Snapshot) {
	r.nodes = model.Snapshot{NodeState: said.NodeState}
	for _, c := range said.Coverage {
		if c.Node != "" {
			r.nodes.Coverage = append(r.nodes.Coverage, c)
		}
	}
}

// Nodes gives a copy of the rows of nodes.
func (r *Rows) Nodes() []model.Node {
	var out []model.Node
	for _, e := range r.byKind[model.KindNode].(*rowsOf[model.Node]).order {
		if e.row != nil {
			out = append(out, *e.row)
		}
	}
	return out
}

// Snapshot gives all rows as of now. The tables are the caller's, who may seal and judge them
// while changes go on, and must be done with it before the next snapshot is taken; only the
// rows of the nodes' own tables are shared, which sealing leaves as they are from the second
// time on.
func (r *Rows) Snapshot(now model.Time) *model.Snapshot {
	s := &model.Snapshot{
		Meta: r.meta, Info: slices.Clone(r.few.Info), Collector: slices.Clone(r.few.Collector), Components: slices.Clone(r.few.Components),
		Events: slices.Clone(r.few.Events), NodeState: maps.Clone(r.nodes.NodeState),
	}
	s.Meta.Taken = now
	for _, t := range slices.Sorted(maps.Keys(r.coverage)) {
		s.Coverage = append(s.Coverage, r.coverage[t])
	}
	s.Coverage = append(s.Coverage, r.nodes.Coverage...)
	for _, t := range r.order {
		t.into(s)
	}
	return s
}
