//go:build e2e

package guard

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// plugAndDelete runs a DEL while its own ADD runs.
func (s *sequence) plugAndDelete(ctx context.Context, pod string, after time.Duration) error {
	b, err := s.open(ctx, pod)
	if err != nil {
		return err
	}
	s.add("ADD and its DEL")
	s.last[pod] = b
	err = together(
		func() error { _, err := s.call("ADD", b, b.netns, 0); return err },
		func() error { time.Sleep(after); return s.deleted(b, b.netns, false) },
	)
	if err != nil {
		return err
	}
	b.behind = true
	if err := s.catchUp(ctx, b); err != nil {
		return err
	}
	return s.seen(ctx, pod)
}

// plugOver runs a DEL of an older sandbox while its successor is added, or just before.
func (s *sequence) plugOver(ctx context.Context, old *box, after time.Duration) error {
	b, err := s.open(ctx, old.pod)
	if err != nil {
		return err
	}
	s.add("ADD over a DEL")
	s.last[old.pod] = b
	first, second := after, time.Duration(0)
	if s.r.IntN(2) == 0 {
		first, second = 0, after
	}
	err = together(
		func() error { time.Sleep(second); return s.deleted(old, old.netns, true) },
		func() error {
			time.Sleep(first)
			a, err := s.call("ADD", b, b.netns, 0)
			if err != nil || a.code != 0 {
				return fmt.Errorf("ADD of %s over a DEL of %s: %d, %w", b, old, a.code, err)
			}
			b.claims, b.held, b.result = true, true, a.out
			return nil
		},
	)
	if err != nil {
		return err
	}
	return s.seen(ctx, old.pod) // either may have run first
}

// deleteTwo deletes two at once, or one twice.
func (s *sequence) deleteTwo(a, b *box) error {
	s.add("two DELs")
	lateA, err := s.late(a)
	if err != nil {
		return err
	}
	lateB, err := s.late(b)
	if err != nil {
		return err
	}
	return together(
		func() error { return s.deleted(a, a.netns, lateA) },
		func() error { return s.deleted(b, b.netns, lateB) },
	)
}

func together(all ...func() error) error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, f := range all {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
