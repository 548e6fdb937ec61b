package observe

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// A Reread is the result of reading a few objects again, live.
// Invariant: a ref in Read without a row in Rows did not exist at At; a row in Rows may be
// missing in Read.
type Reread struct {
	Rows model.Snapshot // the objects that exist
	Read []model.Ref    // the refs that a server answered, present or absent
	At   time.Time      // time of the earliest answer, by the answering server's clock; zero: unknown
}

// A Rereader reads objects of one source again, live and consistently.
type Rereader interface {
	// Reread reads the refs of its own source and ignores the others.
	Reread(ctx context.Context, refs []model.Ref) (Reread, error)
}

// Patch returns a copy of the snapshot in which the reread objects are as the rereads found
// them; all other rows are unchanged.
func Patch(s *model.Snapshot, rereads ...Reread) *model.Snapshot {
	out, _ := Patched(s, rereads...)
	return out
}

// Patched is Patch, and reports whether any row changed. s is not modified; the result shares
// with it the tables in which no row changed. Later rereads replace earlier ones. Meta.Taken
// becomes the time of the last reread that has one. Rereads of nodes always count as changed.
func Patched(s *model.Snapshot, rereads ...Reread) (patched *model.Snapshot, changed bool) {
	out := *s
	for _, l := range rereads {
		p := patch{names: map[string]bool{}, kinds: map[model.Kind]bool{}, read: make(map[model.Ref]bool, len(l.Read))}
		for _, r := range l.Read {
			p.add(r)
		}
		replace(&p, &out.Pods, l.Rows.Pods, model.KindPod, (*model.Pod).Ref, func(r *model.Pod) string { return r.Name })
		replace(&p, &out.Nodes, l.Rows.Nodes, model.KindNode, (*model.Node).Ref, nil)
		replace(&p, &out.Services, l.Rows.Services, model.KindService, (*model.Service).Ref, nil)
		replace(&p, &out.VMs, l.Rows.VMs, model.KindVM, (*model.VM).Ref, nil)
		replace(&p, &out.Blocks, l.Rows.Blocks, model.KindBlock, (*model.Block).Ref, nil)
		replace(&p, &out.Handles, l.Rows.Handles, model.KindHandle, (*model.Handle).Ref, nil)
		replace(&p, &out.Affinities, l.Rows.Affinities, model.KindAffinity, (*model.Affinity).Ref, nil)
		replace(&p, &out.Endpoints, l.Rows.Endpoints, model.KindEndpoint, (*model.Endpoint).Ref, func(r *model.Endpoint) string { return r.Name })
		if len(l.Rows.Coverage) > 0 { // a reread of nodes; s must not change
			out.Coverage, out.NodeState = slices.Clone(out.Coverage), maps.Clone(out.NodeState)
			out.PutFacts(&l.Rows)
			p.changed = true
		}
		if at := model.At(l.At); !at.IsZero() {
			out.Meta.Taken = at
		}
		changed = changed || p.changed
	}
	if changed && len(out.Hosts) > 0 {
		out.Nodes = slices.Clone(out.Nodes) // a view of it writes their Calico names
	}
	return &out, changed
}

// A patch is one reread that is being applied to a snapshot.
// Invariant: kinds and names contain the kind and the last name part of every ref in read.
type patch struct {
	read    map[model.Ref]bool  // refs that were reread, or that have a row in the reread
	kinds   map[model.Kind]bool // their kinds, to skip tables quickly
	names   map[string]bool     // the last parts of their names, to skip rows quickly
	changed bool                // some table differs from that of the snapshot
}

func (p *patch) add(r model.Ref) {
	p.read[r], p.kinds[r.Kind], p.names[r.Name[strings.LastIndexByte(r.Name, '/')+1:]] = true, true, true
}

// replace replaces the reread rows of a table in place, so that a sorted table stays sorted;
// rows that are new are appended in their order, rows that are gone are removed. The table is
// copied when the first row differs, so the original array is never written. end, if not nil,
// returns the last part of a row's name: it is cheaper than the whole Ref of every row.
func replace[T any](p *patch, table *[]T, with []T, kind model.Kind, ref func(*T) model.Ref, end func(*T) string) {
	if len(with) == 0 && !p.kinds[kind] {
		return
	}
	found := make(map[model.Ref][]T, len(with))
	for i := range with {
		r := ref(&with[i])
		p.add(r)
		found[r] = append(found[r], with[i])
	}
	rows := *table
	var out []T // nil while no row differs
	for i := range rows {
		row := &rows[i]
		now := rows[i : i+1]
		if r, read := was(p, row, ref, end); read {
			now = found[r]
			delete(found, r)
		}
		if out == nil {
			if len(now) == 1 && (&now[0] == row || reflect.DeepEqual(now[0], *row)) {
				continue
			}
			out = append(make([]T, 0, len(rows)+len(with)), rows[:i]...)
		}
		out = append(out, now...)
	}
	if out == nil && len(found) == 0 {
		return
	}
	if out == nil {
		out = slices.Clip(rows)
	}
	for i := range with { // rows that were not in the table, in their order
		r := ref(&with[i])
		out = append(out, found[r]...)
		delete(found, r)
	}
	*table, p.changed = out, true
}

// was returns the ref of a row and whether it was reread.
func was[T any](p *patch, row *T, ref func(*T) model.Ref, end func(*T) string) (model.Ref, bool) {
	if end != nil && !p.names[end(row)] {
		return model.Ref{}, false
	}
	r := ref(row)
	return r, p.read[r]
}
