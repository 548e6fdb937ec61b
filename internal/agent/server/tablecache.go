package server

import (
	"encoding/json"
	"hash/fnv"
	"reflect"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/model"
)

// A tableCache holds the last completely read rows of one table, each with the time since when
// it is unchanged. It is not safe for concurrent use: store.mu guards it.
type tableCache interface {
	// put replaces the rows and calls tell for every row that is new, changed or gone. anew
	// means that the table was not read for a while: rows that are equal may have been
	// different in between, so their time restarts.
	put(f *model.NodeState, now time.Time, anew bool, tell func(change))
	// copyTo copies the rows, with their times as of now.
	copyTo(f *model.NodeState, now time.Time)
	sum() (rows int, sum string)
}

// rows is a tableCache of one type of row. The functions are set once; see tableSpecs.
type rows[T any] struct {
	table model.Table
	of    func(*model.NodeState) *[]T
	key   func(*T) string
	since func(*T) *model.Time
	plain func(T) T // the row without fields that change by themselves; only this is compared
	// writer gives what is needed to find who changed a row; nil: nobody can be found.
	writer func(c *change, was, now *T)

	kept  map[string]*kept[T] // by key; nil until the first put
	order []string            // keys as they were read; invariant: exactly the keys of kept
}

type kept[T any] struct {
	row   T         // as last read
	plain T         // plain(row)
	since time.Time // since when plain is unchanged, by the monotonic clock
}

func (s *rows[T]) put(f *model.NodeState, now time.Time, anew bool, tell func(change)) {
	fresh := *s.of(f)
	next := make(map[string]*kept[T], len(fresh))
	order := make([]string, 0, len(fresh))
	for i := range fresh {
		k := s.key(&fresh[i])
		for n := 2; next[k] != nil; n++ { // rows with the same key: numbered in the order of reading
			k = s.key(&fresh[i]) + "#" + strconv.Itoa(n)
		}
		p := s.plain(fresh[i])
		e := &kept[T]{row: fresh[i], plain: p, since: now}
		if old := s.kept[k]; old == nil {
			if s.kept != nil {
				tell(s.change("new", k, nil, &p))
			}
		} else if reflect.DeepEqual(old.plain, p) {
			if !anew {
				e.since = old.since
			}
		} else {
			tell(s.change("changed", k, &old.plain, &p))
		}
		next[k] = e
		order = append(order, k)
	}
	for _, k := range s.order {
		if next[k] == nil {
			tell(s.change("gone", k, &s.kept[k].plain, nil))
		}
	}
	s.kept, s.order = next, order
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

// copyTo counts times back from now with the monotonic clock: setting the node's clock does
// not change the age of rows.
func (s *rows[T]) copyTo(f *model.NodeState, now time.Time) {
	out := make([]T, 0, len(s.order))
	for _, k := range s.order {
		e := s.kept[k]
		row := e.row
		*s.since(&row) = model.At(now.Add(-now.Sub(e.since)))
		out = append(out, row)
	}
	*s.of(f) = out
}

func (s *rows[T]) sum() (int, string) {
	h := fnv.New64a()
	for _, k := range s.order {
		_, _ = h.Write([]byte(k))
		_, _ = h.Write(encoded(&s.kept[k].plain))
	}
	return len(s.order), strconv.FormatUint(h.Sum64(), 16)
}

func same[T any](row T) T { return row }
