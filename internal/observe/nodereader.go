package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// A NodeCollector reads some tables of one node, and no others, into a NodeState of its own.
// An error means that its tables were not read completely: all of them, or only those of a
// TableErrors.
type NodeCollector struct {
	Name   string
	Tables []model.Table
	Read   func(ctx context.Context, f *model.NodeState) error
}

// A TableErrors is an error about some tables of a collector; the others were read completely.
type TableErrors map[model.Table]error

func (b TableErrors) Error() string {
	var errs []error
	for _, t := range model.FactTables() {
		if err := b[t]; err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t, err))
		}
	}
	return errors.Join(errs...).Error()
}

// A NodeReader reads the state of one node with its collectors. A collector that hangs does
// not affect the others: Read waits for it no longer than Within, and does not start it again
// before it has returned.
type NodeReader struct {
	Node       string
	Within     time.Duration   // time limit of each collector
	Most       time.Duration   // that of one that is slow on this node; 0 means Within
	Collectors []NodeCollector // with different names, and each table in one of them

	mu    sync.Mutex
	turns map[string]chan struct{} // by name; holds one element while the collector runs
	tempo map[string]*Tempo        // by name
}

// Read runs the collectors that fill one of the tables, concurrently, and returns their rows
// and the coverage of their tables, sorted by table. No tables means all.
func (b *NodeReader) Read(ctx context.Context, tables ...model.Table) (*model.NodeState, []model.Coverage) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	out := &model.NodeState{}
	var seen []model.Coverage
	for _, s := range b.Collectors {
		if !s.fills(tables) {
			continue
		}
		wg.Go(func() {
			rows, err := b.ask(ctx, s)
			mu.Lock()
			defer mu.Unlock()
			if rows != nil {
				out.Take(rows, s.Tables...)
			}
			for _, t := range s.Tables {
				seen = append(seen, coverage(b.Node, t, err))
			}
		})
	}
	wg.Wait()
	slices.SortFunc(seen, func(a, b model.Coverage) int { return cmp.Compare(a.Table, b.Table) })
	return out, seen
}

func (s NodeCollector) fills(tables []model.Table) bool {
	for _, t := range tables {
		for _, u := range s.Tables {
			if t == u {
				return true
			}
		}
	}
	return len(tables) == 0
}

func coverage(node string, t model.Table, err error) model.Coverage {
	var some TableErrors
	if errors.As(err, &some) {
		err = some[t]
	}
	c := model.Coverage{Table: t, Node: node, State: model.Complete}
	switch {
	case errors.Is(err, ErrNotThere):
		c.State = model.NotThere
	case errors.Is(err, ErrPartial):
		c.State, c.Reason = model.Partial, err.Error()
	case err != nil:
		c.State, c.Reason = model.Lost, err.Error()
	}
	return c
}

// ask runs one collector in its own goroutine, and leaves that goroutine behind if it hangs.
// A concurrent call for the same collector waits until it has returned.
func (b *NodeReader) ask(ctx context.Context, s NodeCollector) (*model.NodeState, error) {
	turn, tempo := b.turn(s.Name)
	limit := tempo.Limit(b.Within, b.Most)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: previous read has not returned", s.Name)
	}
	type answer struct {
		f   *model.NodeState
		err error
	}
	done := make(chan answer, 1)
	go func() {
		defer func() { <-turn }()
		f := &model.NodeState{}
		began := time.Now() //nolint:forbidigo // the duration is what is measured
		err := s.Read(ctx, f)
		tempo.Note(time.Since(began))
		done <- answer{f, err}
	}()
	select {
	case a := <-done:
		return a.f, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: no answer within %s", s.Name, limit)
	}
}

// Tempo is how long reads of a collector take, of those that have returned.
func (b *NodeReader) Tempo(collector string) *Tempo {
	_, t := b.turn(collector)
	return t
}

func (b *NodeReader) turn(name string) (chan struct{}, *Tempo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.turns == nil {
		b.turns, b.tempo = map[string]chan struct{}{}, map[string]*Tempo{}
	}
	if b.turns[name] == nil {
		b.turns[name], b.tempo[name] = make(chan struct{}, 1), &Tempo{}
	}
	return b.turns[name], b.tempo[name]
}
