package server

import (
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// A watcher is how far one caller of PathWatch has come.
type watcher struct {
	*store
	sums    bool   // ways to other nodes are sent as sums
	after   uint64 // the last change that was sent; 0: nothing was sent
	linksAt uint64 // the last change of the interfaces when all routes were sent
	sumsAt  uint64 // the last change when the sums were sent
}

// resume goes on after a change that was sent before, if that is still known.
func (w *watcher) resume(start string, seq uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if start == w.start && seq <= w.seq {
		w.after = seq
	}
}

// next gives what changed since the last frame, and what is closed at the next change. With a beat,
// fields that change by themselves are sent too, and what cannot be told row by row.
func (w *watcher) next(now time.Time, beat bool) (agent.Frame, <-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if beat {
		w.settle(now)
	}
	f := agent.Frame{Schema: model.Schema, Node: w.node, Start: w.start, Seq: w.seq, Taken: model.At(now), Whole: w.after == 0}
	var links map[int]*model.Link
	if w.sums {
		links = w.links(now)
	}
	// Which routes are ways to other nodes depends on their interfaces.
	routes := beat && w.sums && w.last[model.Links] > w.linksAt
	if f.Whole || routes {
		w.linksAt = w.last[model.Links]
	}
	// Sums follow at the next beat, but at once if a table can be read again or cannot any more.
	sums := w.sums && (beat && w.newest(w.last) > w.sumsAt || w.newest(w.covered) > w.sumsAt)
	for _, t := range model.FactTables() {
		whole := f.Whole || sums && t == model.Machines || routes && (t == model.Routes || t == model.Neighbours)
		if !whole && w.last[t] <= w.after {
			continue
		}
		one := agent.TableFrame{Coverage: w.coverage[t], Whole: whole}
		var err error
		if t == model.Machines && w.sums {
			w.sumsAt = w.seq
			err = w.machines(&one, now)
		} else {
			err = w.tables[t].send(&one, w.after, now, links)
		}
		if err != nil {
			return f, nil, err
		}
		f.Tables = append(f.Tables, one)
	}
	w.after = w.seq
	return f, w.changed, nil
}

// newest is the last of the changes that sums depend on.
func (*watcher) newest(of map[model.Table]uint64) uint64 {
	return max(of[model.Links], of[model.Routes], of[model.Neighbours], of[model.Machines])
}

// settle takes changes of fields that change by themselves for changes, a few times a minute.
func (s *store) settle(now time.Time) {
	if now.Sub(s.settled) < s.beat/2 {
		return // for another watcher
	}
	s.settled = now
	seq := s.seq + 1
	for t, c := range s.tables {
		if c.settle(seq) {
			s.last[t] = seq
		}
	}
	s.advance(seq)
}

func (s *store) links(now time.Time) map[int]*model.Link {
	f := &model.NodeState{}
	s.tables[model.Links].copyTo(f, now)
	out := make(map[int]*model.Link, len(f.Links))
	for i := range f.Links {
		out[f.Links[i].Index] = &f.Links[i]
	}
	return out
}

// machines sends the row of the machine, with the sums of the ways to other nodes as they are now.
func (s *store) machines(out *agent.TableFrame, now time.Time) error {
	f := &model.NodeState{}
	for _, t := range []model.Table{model.Links, model.Routes, model.Neighbours, model.Machines} {
		if t == model.Links || s.coverage[t].State.Seen() {
			s.tables[t].copyTo(f, now)
		}
	}
	f.SumWays(nil)
	out.Whole = true
	for i := range f.Machines {
		b, err := snapshotio.EncodeNodeRow(&f.Machines[i])
		if err != nil {
			return err
		}
		out.Keys, out.Rows = append(out.Keys, f.Machines[i].BootID), append(out.Rows, b)
	}
	return nil
}
