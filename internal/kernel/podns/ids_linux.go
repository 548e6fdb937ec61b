package podns

import (
	"context"
	"errors"
	"os"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
)

// IDs returns the inodes of namespaces by their ID in our own; our own has inode 0, if it
// has an ID. A namespace that cannot be read is left out.
func IDs(ctx context.Context, proc, root string) (map[int32]uint64, error) {
	spaces, err := Namespaces(ctx, proc, root)
	if err != nil && !errors.Is(err, rtnl.ErrPartial) {
		return nil, err
	}
	s, err := rtnl.Open()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	ids := make(map[int32]uint64, len(spaces))
	note := func(f *os.File, inode uint64) {
		defer f.Close()
		if id, err := s.NSID(ctx, int(f.Fd())); err == nil && id >= 0 {
			ids[id] = inode
		}
	}
	for i := range spaces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if f, err := spaces[i].open(); err == nil {
			note(f, spaces[i].Inode)
		}
	}
	if f, err := os.Open(ownNS); err == nil {
		note(f, 0)
	}
	return ids, nil
}
