// Package observe runs collectors and keeps the account of what they saw. It decides
// nothing about what is wrong.
package observe

import (
	"context"
	"errors"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// ErrNotThere means that this cluster does not have such a thing at all, which is a
// complete answer.
var ErrNotThere = errors.New("not there")

// ErrPartial means that some facts were read but not all. What was read is kept, the
// table is marked incomplete.
var ErrPartial = errors.New("partial read")

// ErrAgain is what Again makes of an error.
var ErrAgain = errors.New("worth asking again")

// Again marks an error after which the collector, which has added nothing yet, asks in
// another way, once.
func Again(err error) error { return again{err} }

type again struct{ error }

func (e again) Unwrap() error     { return e.error }
func (again) Is(other error) bool { return other == ErrAgain }

// A Collector fills the tables it names, and no others.
type Collector interface {
	Name() string
	Tables() []model.Table
	Collect(ctx context.Context, b *model.Builder) (ReadInfo, error)
}

// ReadInfo says of what moment a collector's answer is.
type ReadInfo struct {
	Revision string
	At       time.Time // by the answering server's clock
	Rows     int
	// Only, if set, are the tables that were seen in full; the others were not read.
	Only []model.Table
}

// maxAtOnce bounds how many lists are under way: one takes up to ten of the API
// server's seats.
const maxAtOnce = 2

// Snapshot runs the collectors, in their order. It never fails as a whole: what could not
// be read is said in the coverage. Tell is called when a collector begins (false) and ends (true).
func Snapshot(ctx context.Context, tell func(name string, rows int, done bool), cs ...Collector) *model.Snapshot {
	var b model.Builder
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxAtOnce)
	for _, c := range cs {
		slots <- struct{}{} // here, so that they begin in the order given: the large ones first, and none at the end alone
		wg.Go(func() {
			defer func() { <-slots }()
			tell(c.Name(), 0, false)
			seen, err := c.Collect(ctx, &b)
			if errors.Is(err, ErrAgain) {
				seen, err = c.Collect(ctx, &b)
			}
			b.Add(func(s *model.Snapshot) { account(s, c, seen, err) })
			tell(c.Name(), seen.Rows, true)
		})
	}
	wg.Wait()
	return b.Snapshot()
}

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
	// The earliest moment is the snapshot's: an age counted from it is never too long.
	if at := model.At(seen.At); !at.IsZero() && (s.Meta.Taken.IsZero() || at < s.Meta.Taken) {
		s.Meta.Taken = at
	}
}
