package kernel

import (
	"context"
	"time"

	"plumbline.dev/plumbline/internal/kernel/podns"
)

// Any stands for an unknown namespace: all may have changed.
const Any = ^uint64(0)

// rest is how long the found namespace IDs stay valid, however many unknown ones appear:
// finding them reads every process.
const rest = time.Second

// numbers maps the kernel's namespace IDs to namespaces.
type numbers struct {
	o     Options
	known map[int32]uint64
	found time.Time
}

// of returns the namespace's inode, 0 for the host's own, or Any.
func (n *numbers) of(ctx context.Context, id int32) uint64 {
	if inode, ok := n.known[id]; ok {
		return inode
	}
	now := time.Now() //nolint:forbidigo // only to limit the searches
	if !n.found.IsZero() && now.Sub(n.found) < rest {
		return Any
	}
	n.found = now
	if known, err := podns.IDs(ctx, n.o.Proc, n.o.Root); err == nil {
		n.known = known
	}
	if inode, ok := n.known[id]; ok {
		return inode
	}
	return Any
}

// forget drops an ID that was assigned or removed: it may mean another namespace now.
func (n *numbers) forget(id int32) { delete(n.known, id) }
