package snapshotio

import (
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// A Patch is a change of one table of a node, by the positions of its rows.
type Patch struct {
	Table model.Table
	Place []int        // of each fresh row: which row it replaces; behind the last one it is added
	Gone  map[int]bool // rows that are removed, after that
}

// EncodeNodeRow writes one row of a node's table as a line.
func EncodeNodeRow[T any](row *T) ([]byte, error) { return encodeRow(row) }

// DecodeNodeRow reads a line and appends its row to the table.
func DecodeNodeRow(f *model.NodeState, t model.Table, line []byte) error {
	for i := range nodeSections {
		if nodeSections[i].table == t {
			return nodeSections[i].decode(f, line)
		}
	}
	return fmt.Errorf("%s is not a table of a node", t)
}

// Apply gives the table a new slice with the fresh rows. The old one stays as it is: somebody may read
// it.
func (p *Patch) Apply(f, fresh *model.NodeState) {
	for i := range nodeSections {
		if nodeSections[i].table == p.Table {
			nodeSections[i].patch(f, fresh, p)
		}
	}
}

// Patched is Apply for what stands beside the rows.
func Patched[T any](p *Patch, old, fresh []T) []T { return patched(old, fresh, p) }

func patched[T any](old, fresh []T, p *Patch) []T {
	out := slices.Grow(slices.Clone(old), len(fresh))
	for i := range fresh {
		if at := p.Place[i]; at < len(old) {
			out[at] = fresh[i]
		} else {
			out = append(out, fresh[i])
		}
	}
	if len(p.Gone) == 0 {
		return out
	}
	n := 0
	for i := range out {
		if !p.Gone[i] {
			out[n] = out[i]
			n++
		}
	}
	return slices.Clip(out[:n])
}
