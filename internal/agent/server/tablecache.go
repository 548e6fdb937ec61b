package server

import (
	"encoding/json"
	"hash/fnv"
	"reflect"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// A tableCache holds the last completely read rows of one table, each with the time since when
// it is unchanged. It is not safe for concurrent use: store.mu guards it.
type tableCache interface {
	// put replaces the rows and calls tell for every row that is new, changed or gone. anew
	// means that the table was not read for a while: rows that are equal may have been
	// different in between, so their time restarts. Changes have the number seq; changed says
	// whether there are any.
	put(f *model.NodeState, now time.Time, anew bool, seq uint64, tell func(change)) (changed bool)
	// copyTo copies the rows, with their times as of now.
	copyTo(f *model.NodeState, now time.Time)
	sum() (rows int, sum string)
	// settle gives the number seq to rows whose other fields have changed since they were sent.
	settle(seq uint64) (changed bool)
	// send puts what changed after a number into a frame, whole if that is not known any more.
	// With links, ways to other nodes over these interfaces are left out.
	send(out *agent.TableFrame, after uint64, now time.Time, links map[int]*model.Link) error
}

// rows is a tableCache of one type of row. The functions are set once; see tableSpecs.
type rows[T any] struct {
	table model.Table
	of    func(*model.NodeState) *[]T
	key   func(*T) string
	since func(*T) *model.Time
	plain func(T) T // the row without fields that change by themselves; only this is compared. nil: there are none
	// writer gives what is needed to find who changed a row; nil: nobody can be found.
	writer func(c *change, was, now *T)
	// way reports whether a row is a way to another node, over an interface; nil: none is.
	way  func(*T, *model.Link) bool
	link func(*T) int

	kept  map[string]*kept[T] // by key; nil until the first put
	order []string            // keys as they were read; invariant: exactly the keys of kept
	tombs []tomb              // the last rows that are gone, in the order of their numbers
	lost  uint64              // the highest number of a row that is gone and not in tombs
}

type kept[T any] struct {
	row   T         // as last read
	plain T         // plain(row)
	since time.Time // since when plain is unchanged, by the monotonic clock
	seq   uint64    // of the last change that is sent
	loose bool      // other fields have changed since then
}

// A tomb is what remains of a row that is gone.
type tomb struct {
	key string
	seq uint64
}

const maxTombs = 1024

func (s *rows[T]) put(f *model.NodeState, now time.Time, anew bool, seq uint64, tell func(change)) (changed bool) {
	fresh := *s.of(f)
	next := make(map[string]*kept[T], len(fresh))
	order := make([]string, 0, len(fresh))
	changed = s.kept == nil
	for i := range fresh {
		k := s.key(&fresh[i])
		for n := 2; next[k] != nil; n++ { // rows with the same key: numbered in the order of reading
			k = s.key(&fresh[i]) + "#" + strconv.Itoa(n)
		}
		e := &kept[T]{row: fresh[i], plain: fresh[i], since: now, seq: seq}
		if s.plain != nil {
			e.plain = s.plain(fresh[i])
		}
		if old := s.kept[k]; old == nil {
			if s.kept != nil {
				tell(s.change("new", k, nil, &e.plain))
			}
		} else if !reflect.DeepEqual(old.plain, e.plain) {
			tell(s.change("changed", k, &old.plain, &e.plain))
		} else if !anew {
			e.since, e.seq = old.since, old.seq
			e.loose = old.loose || s.plain != nil && !reflect.DeepEqual(old.row, e.row)
		}
		changed = changed || e.seq == seq
		next[k] = e
		order = append(order, k)
	}
	for _, k := range s.order {
		if next[k] == nil {
			tell(s.change("gone", k, &s.kept[k].plain, nil))
			s.bury(tomb{k, seq})
			changed = true
		}
	}
	s.kept, s.order = next, order
	return changed
}

func (s *rows[T]) bury(t tomb) {
	if len(s.tombs) == maxTombs {
		s.lost = s.tombs[0].seq
		s.tombs = append(s.tombs[:0], s.tombs[1:]...)
	}
	s.tombs = append(s.tombs, t)
}

func (s *rows[T]) settle(seq uint64) (changed bool) {
	for _, e := range s.kept {
		if e.loose {
			e.seq, e.loose, changed = seq, false, true
		}
	}
	return changed
}

func (s *rows[T]) send(out *agent.TableFrame, after uint64, now time.Time, links map[int]*model.Link) error {
	if out.Whole = out.Whole || after < s.lost; out.Whole {
		after = 0
	}
	for _, k := range s.order {
		e := s.kept[k]
		if e.seq <= after && !out.Whole {
			continue
		}
		if links != nil && s.way != nil && s.way(&e.row, links[s.link(&e.row)]) {
			if !out.Whole { // it may not have been one before
				out.Gone = append(out.Gone, k)
			}
			continue
		}
		b, err := snapshotio.EncodeNodeRow(new(s.aged(e, now)))
		if err != nil {
			return err
		}
		out.Keys, out.Rows = append(out.Keys, k), append(out.Rows, b)
	}
	for _, t := range s.tombs {
		if t.seq > after && !out.Whole && s.kept[t.key] == nil {
			out.Gone = append(out.Gone, t.key)
		}
	}
	return nil
}

func (s *rows[T]) change(what, name string, was, now *T) change {
	c := change{Entry: eventlog.Entry{By: "agent", What: what, Of: s.table.String(), Name: name}}
	c.Was, c.Now = encoded(was), encoded(now)
	if s.writer != nil {
		s.writer(&c, was, now)
	}
	return c
}

func encoded[T any](row *T) json.RawMessage {
	if row == nil {
		return nil
	}
	b, err := json.Marshal(row)
	if err != nil {
		return nil
	}
	return b
}

func (s *rows[T]) copyTo(f *model.NodeState, now time.Time) {
	out := make([]T, 0, len(s.order))
	for _, k := range s.order {
		out = append(out, s.aged(s.kept[k], now))
	}
	*s.of(f) = out
}

// aged is a row with its time, counted back from now with the monotonic clock: setting the node's clock
// does not change the age of rows.
func (s *rows[T]) aged(e *kept[T], now time.Time) T {
	row := e.row
	*s.since(&row) = model.At(now.Add(-now.Sub(e.since)))
	return row
}

func (s *rows[T]) sum() (int, string) {
	h := fnv.New64a()
	for _, k := range s.order {
		_, _ = h.Write([]byte(k))
		_, _ = h.Write(encoded(&s.kept[k].plain))
	}
	return len(s.order), strconv.FormatUint(h.Sum64(), 16)
}
