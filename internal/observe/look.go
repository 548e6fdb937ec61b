package observe

import (
	"context"
	"maps"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// A Look is a second, live reading of a few objects.
type Look struct {
	Rows model.Snapshot // what was found
	Read []model.Ref    // what was asked for and answered, present or absent
	At   time.Time      // by the answering server's clock
}

// A Looker reads objects again, live and consistently.
type Looker interface {
	// Look reads those of the refs that are of its book and leaves the others alone.
	Look(ctx context.Context, refs []model.Ref) (Look, error)
}

// Patch gives a copy of the snapshot in which what was looked at again is as it was
// found; the rest is as before.
func Patch(s *model.Snapshot, looks ...Look) *model.Snapshot {
	out := *s
	for _, l := range looks {
		read := make(map[model.Ref]bool, len(l.Read))
		for _, r := range l.Read {
			read[r] = true
		}
		out.Pods = replace(out.Pods, l.Rows.Pods, read, (*model.Pod).Ref)
		out.Nodes = replace(out.Nodes, l.Rows.Nodes, read, (*model.Node).Ref)
		out.Services = replace(out.Services, l.Rows.Services, read, (*model.Service).Ref)
		out.VMs = replace(out.VMs, l.Rows.VMs, read, (*model.VM).Ref)
		out.Blocks = replace(out.Blocks, l.Rows.Blocks, read, (*model.Block).Ref)
		out.Handles = replace(out.Handles, l.Rows.Handles, read, (*model.Handle).Ref)
		out.Affinities = replace(out.Affinities, l.Rows.Affinities, read, (*model.Affinity).Ref)
		out.Endpoints = replace(out.Endpoints, l.Rows.Endpoints, read, (*model.Endpoint).Ref)
		if len(l.Rows.Coverage) > 0 { // nodes were asked again; the original stays as it is
			out.Coverage, out.Facts = slices.Clone(out.Coverage), maps.Clone(out.Facts)
			out.PutFacts(&l.Rows)
		}
		if at := model.At(l.At); !at.IsZero() {
			out.Meta.Taken = at
		}
	}
	return &out
}

func replace[T any](rows, with []T, read map[model.Ref]bool, ref func(*T) model.Ref) []T {
	for i := range with {
		read[ref(&with[i])] = true
	}
	out := make([]T, 0, len(rows)+len(with))
	for i := range rows {
		if !read[ref(&rows[i])] {
			out = append(out, rows[i])
		}
	}
	return append(out, with...)
}
