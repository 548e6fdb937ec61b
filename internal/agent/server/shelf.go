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

// A shelf keeps one table: every row with the moment since when it is what it is.
type tableCache interface {
	// put takes new rows and tells what changed. Anew means that nobody was watching:
	// what is the same may have been something else in between.
	put(f *model.NodeState, now time.Time, anew bool, tell func(eventlog.Entry))
	// copyTo gives the rows, with their times as seen at now.
	copyTo(f *model.NodeState, now time.Time)
	sum() (rows int, sum string)
}

// rows is a shelf of one type.
type rows[T any] struct {
	table model.Table
	of    func(*model.NodeState) *[]T
	key   func(*T) string
	since func(*T) *model.Time
	plain func(T) T // the row without what moves by itself

	kept  map[string]*kept[T]
	order []string
}

type kept[T any] struct {
	row   T
	plain T
	since time.Time
}

func (s *rows[T]) put(f *model.NodeState, now time.Time, anew bool, tell func(eventlog.Entry)) {
	fresh := *s.of(f)
	next := make(map[string]*kept[T], len(fresh))
	order := make([]string, 0, len(fresh))
	for i := range fresh {
		k := s.key(&fresh[i])
		for n := 2; next[k] != nil; n++ { // two rows of one name: they are told apart by their order
			k = s.key(&fresh[i]) + "#" + strconv.Itoa(n)
		}
		p := s.plain(fresh[i])
		e := &kept[T]{row: fresh[i], plain: p, since: now}
		if old := s.kept[k]; old == nil {
			if s.kept != nil {
				tell(s.entry("new", k, nil, &p))
			}
		} else if reflect.DeepEqual(old.plain, p) {
			if !anew {
				e.since = old.since
			}
		} else {
			tell(s.entry("changed", k, &old.plain, &p))
		}
		next[k] = e
		order = append(order, k)
	}
	for _, k := range s.order {
		if next[k] == nil {
			tell(s.entry("gone", k, &s.kept[k].plain, nil))
		}
	}
	s.kept, s.order = next, order
}

func (s *rows[T]) entry(what, name string, was, now *T) eventlog.Entry {
	e := eventlog.Entry{By: "agent", What: what, Of: s.table.String(), Name: name}
	e.Was, e.Now = encoded(was), encoded(now)
	return e
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

// copyTo counts back from now by the clock that only runs forward: a node whose clock is
// set does not make its rows older.
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
