package podns

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

// Bounds of one read of all namespaces.
const (
	visitors    = 2 // concurrent threads
	maxAllRows  = 100_000
	maxFailures = 3 // failures that are reported
)

// All returns the inside of every namespace. A namespace that could not be read has no row,
// and the error is rtnl.ErrPartial.
func All(ctx context.Context, proc, root string) ([]model.Attachment, error) {
	return each(ctx, proc, root, func(v *visitor, f *os.File, n *Namespace) ([]model.Attachment, int, error) {
		rows, err := v.read(ctx, f, n)
		size := len(rows)
		for i := range rows {
			size += len(rows[i].IPs) + len(rows[i].Routes) + len(rows[i].Neighbours)
		}
		return rows, size, err
	})
}

// Addresses returns the addresses inside every namespace, which is faster than All.
func Addresses(ctx context.Context, proc, root string) ([]netip.Addr, error) {
	return each(ctx, proc, root, func(v *visitor, f *os.File, _ *Namespace) ([]netip.Addr, int, error) {
		rows, err := v.addresses(ctx, f)
		return rows, len(rows), err
	})
}

// each reads every namespace, several at a time, in the order of the list.
func each[T any](ctx context.Context, proc, root string, read func(*visitor, *os.File, *Namespace) ([]T, int, error)) ([]T, error) {
	spaces, err := Namespaces(ctx, proc, root)
	if err != nil && !errors.Is(err, rtnl.ErrPartial) {
		return nil, err
	}
	got, failed := make([][]T, len(spaces)), make([]error, len(spaces))
	var next, size atomic.Int64
	var wg sync.WaitGroup
	lost := make([]error, visitors)
	for i := range min(visitors, len(spaces)) {
		wg.Go(func() {
			lost[i] = visit(func(v *visitor) error {
				for {
					k := int(next.Add(1)) - 1
					if k >= len(spaces) {
						return nil
					}
					if size.Load() > maxAllRows {
						return fmt.Errorf("%w: the namespaces hold more than %d rows", rtnl.ErrPartial, maxAllRows)
					}
					n := 0
					got[k], n, failed[k] = step(v, &spaces[k], read)
					size.Add(int64(n))
					if errors.Is(failed[k], errStranded) || ctx.Err() != nil {
						return failed[k]
					}
				}
			})
		})
	}
	wg.Wait()
	var out []T
	errs := append([]error{err}, lost...)
	for k := range spaces {
		out = append(out, got[k]...)
		if failed[k] != nil && len(errs) < visitors+1+maxFailures {
			errs = append(errs, failed[k])
		}
	}
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err := errors.Join(errs...); err != nil {
		return out, fmt.Errorf("%w: %w", rtnl.ErrPartial, err)
	}
	return out, nil
}

// step reads one namespace, and holds it open no longer than that takes.
func step[T any](v *visitor, n *Namespace, read func(*visitor, *os.File, *Namespace) ([]T, int, error)) ([]T, int, error) {
	f, err := n.open()
	if errors.Is(err, errGone) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	return read(v, f, n)
}
