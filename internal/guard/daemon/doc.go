// Package daemon looks after a node's guard: it puts it into the network's configuration and
// takes it out again, as whoever runs the cluster wants it, works off what the guard had
// to put off, and takes its record to the disk. If the keeper dies, nothing changes for
// pods: the guard stays as it is.
package daemon

import (
	"context"
	"log/slog"
	"time"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/model"
)

// A World is all that the keeper has of its node.
type World struct {
	Node    string
	Root    string // the host's files are below it; for what conf needs it must not be a link
	Modes   string // directory that says which mode is wanted
	Program string // the guard's, in our own image
	Record  string // directory of the flight record on disk; empty for none

	Networking       func(ctx context.Context) (cri.Networking, error)
	Sandboxes        func(ctx context.Context) ([]model.Sandbox, error) // with observe.ErrPartial: all, some without details
	Calls            func(ctx context.Context) ([]model.Process, error) // CNI's that run now
	RunningSandboxes func(ctx context.Context) ([]uint64, error)        // inodes of all network namespaces
	Now              func() time.Time
	Log              *slog.Logger
}
