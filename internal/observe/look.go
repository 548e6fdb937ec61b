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

// A Reread is a second, live reading of a few objects.
type Reread struct {
	Rows model.Snapshot // what was found
	Read []model.Ref    // what was asked for and answered, present or absent
	At   time.Time      // by the answering server's clock
}

// A Rereader reads objects again, live and consistently.
type Rereader interface {
	// Reread reads those of the refs that are of its book and leaves the others alone.
	Reread(ctx context.Context, refs []model.Ref) (Reread, error)
}

// Patch gives a copy of the snapshot in which what was looked at again is as it was
// found; the rest is as before.
func Patch(s *model.Snapshot, looks ...Reread) *model.Snapshot {
	out, _ := Patched(s, looks...)
	return out
}

// Patched is Patch for who wants to know whether any row became another. Tables in which
// none did are shared.
func Patched(s *model.Snapshot, looks ...Reread) (patched *model.Snapshot, changed bool) {
	out := *s
	for _, l := range looks {
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
		if len(l.Rows.Coverage) > 0 { // nodes were asked again; the original stays as it is
			out.Coverage, out.NodeState = slices.Clone(out.Coverage), maps.Clone(out.NodeState)
			out.PutFacts(&l.Rows)
			p.changed = true
		}
		if at := model.At(l.At); !at.IsZero() {
			out.Meta.Taken = at
		}
		changed = changed || p.changed
	}
	return &out, changed
}

// A patch is one look that is being put over a snapshot.
type patch struct {
	read    map[model.Ref]bool
	kinds   map[model.Kind]bool // of what was read
	names   map[string]bool     // the ends of theirs
	changed bool
}

func (p *patch) add(r model.Ref) {
	p.read[r], p.kinds[r.Kind], p.names[r.Name[strings.LastIndexByte(r.Name, '/')+1:]] = true, true, true
}

// replace puts what was found where it stood, so that the order stays. End is the end of a
// row's name: putting the whole together for every row of a large table costs more.
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
	var out []T // nil while all is as it was
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
	for i := range with { // in their order
		r := ref(&with[i])
		out = append(out, found[r]...)
		delete(found, r)
	}
	*table, p.changed = out, true
}

func was[T any](p *patch, row *T, ref func(*T) model.Ref, end func(*T) string) (model.Ref, bool) {
	if end != nil && !p.names[end(row)] {
		return model.Ref{}, false
	}
	r := ref(row)
	return r, p.read[r]
}
