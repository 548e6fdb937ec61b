package rtnl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// An interrupted dump is repeated, as often and as soon as Cilium does.
const (
	tries = 30
	pause = time.Millisecond
)

// dump reads a table, at most limit rows of it. All tables are read through it: a dump that
// was interrupted repeatedly, or truncated at the limit, returns ErrPartial.
func dump[T any](ctx context.Context, s *Socket, kind uint16, body []byte, limit int, parse func(Message, []T) ([]T, error)) ([]T, error) {
	return completeMessage(ctx, func() ([]T, error) {
		var rows []T
		err := s.ask(ctx, kind, unix.NLM_F_DUMP, body, func(m Message) error {
			var err error
			if rows, err = parse(m, rows); err == nil && len(rows) > limit {
				rows, err = rows[:limit], fmt.Errorf("%w: there are more than %d", ErrPartial, limit)
			}
			return err
		})
		return rows, err
	})
}

// completeMessage repeats the dump until nothing changed meanwhile.
func completeMessage[T any](ctx context.Context, read func() ([]T, error)) ([]T, error) {
	for range tries {
		rows, err := read()
		if !errors.Is(err, errIntr) {
			return rows, err
		}
		select {
		case <-ctx.Done():
			return rows, ctx.Err()
		case <-time.After(pause):
		}
	}
	rows, err := read()
	if errors.Is(err, errIntr) {
		err = fmt.Errorf("%w: the table changed during each of %d reads", ErrPartial, tries+1)
	}
	return rows, err
}
