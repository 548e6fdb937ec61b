package podns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
)

// Bounds of one enumeration.
const (
	maxProcesses  = 20_000
	maxThreads    = 1_000 // read if a leader is a zombie
	maxNamespaces = 5_000
	maxPins       = 10_000 // files of one directory
)

// A census is a running enumeration.
type census struct {
	host  uint64
	found map[uint64]*Namespace
	errs  []error
}

// Namespaces lists the network namespaces of the node other than our own: those that files
// pin below root (the host's file system) and those of the processes in proc. With
// rtnl.ErrPartial the list holds those that were found.
func Namespaces(ctx context.Context, proc, root string) ([]Namespace, error) {
	host, err := Host()
	if err != nil {
		return nil, err
	}
	c := &census{host: host, found: map[uint64]*Namespace{}}
	c.pinned(root)
	if err := c.lived(ctx, proc); err != nil {
		return nil, err
	}
	out := make([]Namespace, 0, len(c.found))
	for _, n := range c.found {
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b Namespace) int { return cmp.Compare(a.Inode, b.Inode) })
	if len(c.errs) > 0 {
		return out, fmt.Errorf("%w: %w", rtnl.ErrPartial, errors.Join(c.errs...))
	}
	return out, nil
}

// meet records a path to a namespace. It returns nil for the host's own and above the
// bound.
func (c *census) meet(inode uint64, path string, way door) *Namespace {
	if inode == c.host {
		return nil
	}
	n := c.found[inode]
	if n == nil {
		if len(c.found) >= maxNamespaces {
			c.partly(fmt.Errorf("there are more than %d network namespaces", maxNamespaces))
			return nil
		}
		n = &Namespace{Inode: inode, Path: path}
		c.found[inode] = n
	}
	n.ways++
	if len(n.doors) < maxDoors {
		n.doors = append(n.doors, way)
	}
	return n
}

// maxSaid is how many failures are reported.
const maxSaid = 3

func (c *census) partly(err error) {
	if len(c.errs) < maxSaid {
		c.errs = append(c.errs, err)
	}
}
