package audit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
)

// Of how many nodes ways are read row by row for one judgement: of those whose sums have differed for a
// minute, in turn, and of the others. In a large cluster the sums of all nodes differ for a moment
// whenever a block is new.
const (
	maxOpened   = 64
	maxLong     = 512
	differsLong = time.Minute
)

// A differing node is one whose sums of ways differ from Calico's records.
type differing struct {
	since, opened model.Time
}

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
	nodes := slices.SortedFunc(maps.Keys(differ), func(a, b string) int {
		return cmp.Or(cmp.Compare(w.differ[a].opened, w.differ[b].opened), cmp.Compare(a, b)) // who waits longest
	})
	few, long := 0, 0
	for _, node := range nodes {
		d, before := w.differ[node]
		if !before {
			d.since = s.Meta.Taken
		}
		count, most := &few, maxOpened
		if s.Meta.Taken.Sub(d.since) >= differsLong {
			count, most = &long, maxLong
		}
		if *count++; *count > most {
			delete(differ, node)
		} else {
			d.opened = s.Meta.Taken
		}
		w.differ[node] = d
	}
	if len(differ) == 0 {
		return v
	}
	src.Ways(ctx, s, differ)
	return model.Seal(s)
}
