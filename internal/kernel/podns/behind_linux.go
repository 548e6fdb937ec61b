package podns

import (
	"context"
	"errors"
	"fmt"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
)

// Behind returns the namespace with this ID in our own; nil if no process is in it and no
// file pins it. Anything that could not be read is an error: it may be that namespace.
func Behind(ctx context.Context, proc, root string, id int32) (*Namespace, error) {
	spaces, err := Namespaces(ctx, proc, root)
	if err != nil {
		return nil, err
	}
	s, err := rtnl.Open()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for i := range spaces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		its, err := numberOf(ctx, s, &spaces[i])
		switch {
		case errors.Is(err, errGone):
		case err != nil:
			return nil, fmt.Errorf("find namespace %d: %w", id, err)
		case its == id:
			return &spaces[i], nil
		}
	}
	return nil, nil
}

func numberOf(ctx context.Context, s *rtnl.Socket, n *Namespace) (int32, error) {
	f, err := n.open()
	if err != nil {
		return -1, err
	}
	defer f.Close()
	return s.NSID(ctx, int(f.Fd()))
}
