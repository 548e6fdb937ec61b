// Package observe runs collectors and records their coverage: what was read, and what was
// not. It does not evaluate what is wrong.
package observe

import (
	"context"
	"errors"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// ErrNotThere means that this cluster does not have such objects at all: the table is
// complete and empty.
var ErrNotThere = errors.New("does not exist in this cluster")

// ErrPartial means that some rows were read but not all. They are kept, and the table is
// marked as partial.
var ErrPartial = errors.New("partial read")

// errAgain matches the errors that Again returns.
var errAgain = errors.New("retry once")

// Again marks an error after which Snapshot calls the collector once more; the collector has
// added no rows yet and reads in another way.
func Again(err error) error { return again{err} }

type again struct{ error }

func (e again) Unwrap() error     { return e.error }
func (again) Is(other error) bool { return other == errAgain }

// A Collector fills the tables that it names, and no others.
type Collector interface {
	Name() string
	Tables() []model.Table
	Collect(ctx context.Context, b *model.Builder) (ReadInfo, error)
}

// ReadInfo describes the answer that a collector got.
type ReadInfo struct {
	Revision string    // resourceVersion or etcd revision of the list
	At       time.Time // time of the answer, by the answering server's clock; zero: unknown
	Rows     int
	// Only, if not nil, are the tables that were read completely; the others were not read.
	Only []model.Table
}

// maxAtOnce limits concurrent lists: one list uses up to ten seats of the API server's
// priority and fairness.
const maxAtOnce = 2

// Snapshot runs the collectors, in their order. It never fails as a whole: what could not be
// read is recorded in the coverage. tell is called when a collector begins (false) and ends
// (true).
func Snapshot(ctx context.Context, tell func(name string, rows int, done bool), cs ...Collector) *model.Snapshot {
	var b model.Builder
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxAtOnce)
	for _, c := range cs {
		slots <- struct{}{} // here, so that they begin in the given order: the largest first, so that none runs alone at the end
		wg.Go(func() {
			defer func() { <-slots }()
			tell(c.Name(), 0, false)
			seen, err := c.Collect(ctx, &b)
			if errors.Is(err, errAgain) {
				seen, err = c.Collect(ctx, &b)
			}
			b.Add(func(s *model.Snapshot) { account(s, c, seen, err) })
			tell(c.Name(), seen.Rows, true)
		})
	}
	wg.Wait()
	return b.Snapshot()
}

// account records the coverage of a collector's tables.
func account(s *model.Snapshot, c Collector, seen ReadInfo, err error) {
	state, reason := model.Complete, ""
	switch {
	case errors.Is(err, ErrNotThere):
		state = model.NotThere
	case errors.Is(err, ErrPartial):
		state, reason = model.Partial, err.Error()
	case err != nil:
		state, reason = model.Lost, err.Error()
	}
	tables := c.Tables()
	if err == nil && seen.Only != nil {
		tables = seen.Only
	}
	for _, t := range tables {
		s.Coverage = append(s.Coverage, model.Coverage{
			Table: t, State: state, Reason: reason, Revision: seen.Revision, At: model.At(seen.At), Rows: seen.Rows,
		})
	}
	// The earliest answer is the snapshot's time: an age counted up to it is never too long.
	if at := model.At(seen.At); !at.IsZero() && (s.Meta.Taken.IsZero() || at < s.Meta.Taken) {
		s.Meta.Taken = at
	}
}
