package audit

import (
	"context"
	"maps"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
)

// Of how many nodes ways are read row by row for one judgement, and how long sums must differ to be
// beyond that limit. In a large cluster those of all nodes differ for a moment whenever a block is new.
const (
	maxOpened   = 64
	differsLong = time.Minute
)

// open seals a snapshot, after the ways of nodes whose sums differ were read row by row. Of those that
// have to wait it is said that their ways were not read.
func (w *Series) open(ctx context.Context, s *model.Snapshot, src Source) *model.View {
	v := model.Seal(s)
	if src.Ways == nil {
		return v
	}
	differ := detect.OpenWays(v)
	for node := range w.differ {
		if differ[node] == nil {
			delete(w.differ, node)
		}
	}
	few := 0
	for _, node := range slices.Sorted(maps.Keys(differ)) {
		since, before := w.differ[node]
		if !before {
			since = s.Meta.Taken
			w.differ[node] = since
		}
		if s.Meta.Taken.Sub(since) >= differsLong {
			continue
		}
		if few++; few > maxOpened {
			delete(differ, node)
		}
	}
	if len(differ) == 0 {
		return v
	}
	src.Ways(ctx, s, differ)
	return model.Seal(s)
}
