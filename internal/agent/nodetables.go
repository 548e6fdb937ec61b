package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// nodeTables are the tables of one node as its agent sent them. What snapshot gives is never changed
// afterwards: each frame makes new slices of the tables that it changes.
type nodeTables struct {
	node     string
	start    string
	seq      uint64
	state    model.NodeState // as last read, also of tables that cannot be read now
	keys     map[model.Table][]string
	sizes    map[model.Table][]int // weights of the rows, beside their keys
	coverage map[model.Table]model.Coverage
	ahead    time.Duration // of the node's clock, as far as it is proven
	taken    model.Time    // the last frame, by that clock
}

// errFrame means that a frame could not be applied.
var errFrame = errors.New("the agent sent what does not fit what it sent before")

// errTooMuch means that a node sends more than any node has.
var errTooMuch = errors.New("the agent sends more than any node has")

// take applies a frame of a watch that was asked for then, with times shifted to the clock of now. An
// error leaves the tables in no defined state: they must be read anew.
func (n *nodeTables) take(f *Frame, asked, now time.Time) error {
	switch {
	case f.Schema > model.Schema:
		return ErrNewer
	case f.Schema < model.Schema:
		return ErrOlder
	case len(f.Start) > maxReason:
		return errTooMuch
	case f.Node != n.node:
		return errors.New("the agent reported another node")
	case f.Whole:
		*n = nodeTables{node: n.node, start: f.Start, keys: map[model.Table][]string{}, sizes: map[model.Table][]int{}, coverage: map[model.Table]model.Coverage{}}
	case f.Start != n.start || f.Seq < n.seq:
		return errFrame
	case f.Taken.Add(clockSlack) < n.taken: // the node's clock was set back: a new watch shows by how much
		return errFrame
	}
	n.seq, n.taken = f.Seq, f.Taken
	boxes := false
	for i := range f.Tables {
		t := &f.Tables[i]
		if err := n.takeTable(t, model.At(now).Sub(f.Taken)); err != nil {
			return err
		}
		boxes = boxes || t.Coverage.Table == model.Sandboxes || t.Coverage.Table == model.Attachments
	}
	if boxes {
		n.state.Attachments = slices.Clone(n.state.Attachments)
		model.Join(n.state.Attachments, n.state.Sandboxes)
	}
	n.compareClocks(f.Taken.Time(), asked, now)
	ahead := int64(n.ahead.Seconds())
	if len(n.state.Machines) > 0 && n.state.Machines[0].Ahead != ahead {
		n.state.Machines = slices.Clone(n.state.Machines)
		n.state.Machines[0].Ahead = ahead
	}
	return nil
}

// compareClocks uses what a frame proves. It may have been on its way for long: how far the node's clock
// is behind at most is known from each, and that it is behind at all from one taken before it was asked for.
func (n *nodeTables) compareClocks(taken, asked, now time.Time) {
	n.ahead = max(Ahead(taken, now, now), min(n.ahead, Ahead(taken, asked, now)))
}

func (n *nodeTables) takeTable(f *TableFrame, shift time.Duration) error {
	t := f.Coverage.Table
	if !t.OfNode() || len(f.Keys) != len(f.Rows) || f.Coverage.Node != "" && f.Coverage.Node != n.node {
		return errFrame
	}
	fresh := &model.NodeState{}
	sizes := make([]int, len(f.Rows))
	for i, row := range f.Rows {
		sizes[i] = snapshotio.Weight(row) + len(f.Keys[i])
		if err := snapshotio.DecodeNodeRow(fresh, t, row); err != nil {
			return fmt.Errorf("read a row of %s: %w", t, err)
		}
	}
	fresh.Shift(shift)
	fresh.Place(n.node)
	if f.Whole {
		n.state.Take(fresh, t)
		n.keys[t], n.sizes[t] = slices.Clone(f.Keys), sizes
	} else if len(f.Keys)+len(f.Gone) > 0 {
		p := n.patch(f)
		p.Apply(&n.state, fresh)
		n.keys[t], n.sizes[t] = snapshotio.Patched(p, n.keys[t], f.Keys), snapshotio.Patched(p, n.sizes[t], sizes)
	}
	// Clones, so that the frame's text is not kept for them.
	n.coverage[t] = model.Coverage{
		Table: t, Node: n.node, State: model.State(clipped(string(f.Coverage.State))), Rows: f.Coverage.Rows,
		Reason: clipped(f.Coverage.Reason), Revision: clipped(f.Coverage.Revision),
	}
	return n.bounded()
}

// maxReason bounds a reason or note about a table.
const maxReason = 512

func clipped(s string) string { return strings.Clone(s[:min(len(s), maxReason)]) }

// bounded reports whether the node has told more than any node has.
func (n *nodeTables) bounded() error {
	rows, weight := 0, 0
	for _, sizes := range n.sizes {
		rows += len(sizes)
		for _, size := range sizes {
			weight += size
		}
	}
	if rows > maxRows || weight > maxWeight {
		return fmt.Errorf("%w: more than %d rows or %d MiB of memory", errTooMuch, maxRows, maxWeight>>20)
	}
	return nil
}

// patch finds the rows that a frame changes.
func (n *nodeTables) patch(f *TableFrame) *snapshotio.Patch {
	p := &snapshotio.Patch{Table: f.Coverage.Table, Gone: map[int]bool{}}
	at := make(map[string]int, len(f.Keys)+len(f.Gone))
	for _, k := range f.Keys {
		at[k] = -1
	}
	for _, k := range f.Gone {
		at[k] = -1
	}
	old := n.keys[p.Table]
	for i, k := range old {
		if _, ok := at[k]; ok {
			at[k] = i
		}
	}
	for i, k := range f.Keys {
		if at[k] < 0 {
			at[k] = len(old) + i // twice in one frame: the last one holds below
		}
		p.Place = append(p.Place, at[k])
	}
	for _, k := range f.Gone {
		if i := at[k]; i >= 0 {
			p.Gone[i] = true
		}
	}
	return p
}

// noSums is said of routes if the ways among them are not there: their sums are in the machine's row, and
// which routes are ways depends on the interfaces.
const noSums = "the sums of ways to other nodes were not read"

// snapshot gives the tables that were read completely, and the coverage of all.
func (n *nodeTables) snapshot() *model.Snapshot {
	sums := n.coverage[model.Machines].State.Seen() && n.coverage[model.Links].State.Seen() && len(n.state.Machines) > 0 && n.state.Machines[0].Summed
	state := &model.NodeState{}
	out := &model.Snapshot{NodeState: map[string]*model.NodeState{n.node: state}}
	for _, t := range model.FactTables() {
		c, ok := n.coverage[t]
		if !ok {
			c = model.Coverage{Table: t, Node: n.node, State: model.Lost, Reason: "the agent does not report it: upgrade the agents"}
		}
		if (t == model.Routes || t == model.Neighbours) && c.State.Seen() && !sums {
			c.State, c.Reason = model.Lost, noSums
		}
		out.Coverage = append(out.Coverage, c)
		if c.State.Seen() {
			state.Take(&n.state, t)
		}
	}
	return out
}
