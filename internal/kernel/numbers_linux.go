package kernel

import (
	"context"
	"time"

	"plumbline.dev/plumbline/internal/kernel/podns"
)

// Any stands for some namespace that could not be told: look at all of them.
const Any = ^uint64(0)

// rest is how long the numbers of namespaces are taken to be as they were last found,
// however many unknown ones are met: finding them looks at every process.
const rest = time.Second

// numbers knows which namespace a number of the kernel's means.
type numbers struct {
	o     Options
	known map[int32]uint64
	found time.Time
}

// of gives the namespace's inode, 0 for the host's own, or Any.
func (n *numbers) of(ctx context.Context, id int32) uint64 {
	if inode, ok := n.known[id]; ok {
		return inode
	}
	now := time.Now() //nolint:forbidigo // only to rest between two searches
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

// forget is for a number that was given or taken: it may mean another namespace now.
func (n *numbers) forget(id int32) { delete(n.known, id) }
