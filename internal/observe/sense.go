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

// A NodeCollector reads some of one node's own tables, and no others. It reads into facts that
// nobody else holds. An error says which of its tables were not seen in full: all, or
// those of a TableErrors.
type NodeCollector struct {
	Name   string
	Tables []model.Table
	Read   func(ctx context.Context, f *model.NodeState) error
}

// A TableErrors is an error about some of a sense's tables; the others were seen in full.
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

// A NodeReader is a node with its senses. What hangs in one of them hangs there alone: it is
// waited for no longer than its time, and not asked again before it has come back.
type NodeReader struct {
	Node       string
	Within     time.Duration // for each sense
	Collectors []NodeCollector

	mu    sync.Mutex
	turns map[string]chan struct{} // full while a sense is being asked
}

// Read asks the senses that fill one of the tables, all at once, and gives what they
// saw with the account of it. No tables means all.
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
	var blind TableErrors
	if errors.As(err, &blind) {
		err = blind[t]
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

// ask runs one sense in a goroutine of its own, and leaves it behind if it hangs. Who comes
// while another asks waits for his turn.
func (b *NodeReader) ask(ctx context.Context, s NodeCollector) (*model.NodeState, error) {
	ctx, cancel := context.WithTimeout(ctx, b.Within)
	defer cancel()
	turn := b.turn(s.Name)
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%s has not come back from the last time", s.Name)
	}
	type answer struct {
		f   *model.NodeState
		err error
	}
	done := make(chan answer, 1)
	go func() {
		defer func() { <-turn }()
		f := &model.NodeState{}
		err := s.Read(ctx, f)
		done <- answer{f, err}
	}()
	select {
	case a := <-done:
		return a.f, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: no answer within %s", s.Name, b.Within)
	}
}

func (b *NodeReader) turn(name string) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.turns == nil {
		b.turns = map[string]chan struct{}{}
	}
	if b.turns[name] == nil {
		b.turns[name] = make(chan struct{}, 1)
	}
	return b.turns[name]
}
