package calico

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Reread rereads blocks, handles and affinities.
func (c *CRDs) Reread(ctx context.Context, refs []model.Ref) (observe.Reread, error) {
	byKind := map[model.Kind][]model.Ref{}
	for _, r := range refs {
		byKind[r.Kind] = append(byKind[r.Kind], r)
	}
	var out observe.Reread
	// Blocks after handles: an ADD writes the handle first, so a handle that exists and
	// that its block does not show is really inconsistent.
	if err := lookAt(ctx, c, &out, byKind[model.KindHandle], "ipamhandles", handleRow, &out.Rows.Handles, c.handlePath); err != nil {
		return out, err
	}
	if err := lookAt(ctx, c, &out, byKind[model.KindBlock], "ipamblocks", blockRow, &out.Rows.Blocks, c.blockPath); err != nil {
		return out, err
	}
	return out, c.lookAffinities(ctx, &out, byKind[model.KindAffinity])
}

func (c *CRDs) blockPath(r model.Ref) string {
	p, err := netip.ParsePrefix(r.Name)
	if err != nil {
		return ""
	}
	return c.path("ipamblocks/" + model.BlockName(p))
}

func (c *CRDs) handlePath(r model.Ref) string {
	return c.path("ipamhandles/" + url.PathEscape(model.HandleKey(r.Name)))
}

// lookAffinities lists them: their names can be hashes, and there are few.
func (c *CRDs) lookAffinities(ctx context.Context, out *observe.Reread, refs []model.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	keep := newArena()
	seen, err := c.API.List(ctx, c.path("blockaffinities"), nil, func(item []byte) error {
		row, err := keptAffinity(item, keep)
		out.Rows.Affinities = append(out.Rows.Affinities, row)
		return err
	})
	if err != nil {
		return err
	}
	out.Note(seen.At, refs...)
	return nil
}

func lookAt[T any](ctx context.Context, c *CRDs, out *observe.Reread, refs []model.Ref, resource string, row func([]byte, origin) (T, error), rows *[]T, path func(model.Ref) string) error {
	if len(refs) > observe.ListAbove {
		keep := newArena()
		seen, err := c.API.List(ctx, c.path(resource), nil, func(item []byte) error {
			r, err := keptRow(resource, item, keep, row)
			*rows = append(*rows, r)
			return err
		})
		if err != nil {
			return err
		}
		out.Note(seen.At, refs...)
		return nil
	}
	return observe.Each(refs, func(r model.Ref, lock sync.Locker) error {
		found, at, err := readOne(ctx, c, resource, path(r), row)
		if err != nil {
			return err
		}
		lock.Lock()
		defer lock.Unlock()
		*rows = append(*rows, found...)
		out.Note(at, r)
		return nil
	})
}

func readOne[T any](ctx context.Context, c *CRDs, resource, path string, row func([]byte, origin) (T, error)) ([]T, time.Time, error) {
	if path == "" || strings.HasSuffix(path, "/") {
		return nil, time.Time{}, fmt.Errorf("missing name of a %s", resource)
	}
	raw, at, err := c.API.Get(ctx, path)
	if errors.Is(err, observe.ErrNotThere) {
		return nil, at, nil
	}
	if err != nil {
		return nil, at, err
	}
	r, err := parseRow(resource, raw, row)
	return []T{r}, at, err
}
