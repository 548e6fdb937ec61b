// Package daemon is the guard daemon of a node: it inserts the guard into the network's CNI
// configuration and removes it, as configured, runs the queued DELs, and copies the guard's
// events to disk. If it exits, nothing changes for pods: the guard stays as it is.
package daemon

import (
	"context"
	"log/slog"
	"time"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/model"
)

// A environment is the guard daemon's access to its node.
type environment struct {
	Node    string
	Root    string // the host's files are below it; package cniconf needs it not to be a link
	Modes   string // directory with the configured mode
	Program string // the guard's program in this container's image
	Record  string // directory of the event log on disk; empty for none

	Networking func(ctx context.Context) (cri.Networking, error)
	Sandboxes  func(ctx context.Context) ([]model.Sandbox, error) // with observe.ErrPartial: all, some without details
	Calls      func(ctx context.Context) ([]model.Process, error) // running CNI calls
	Namespaces func(ctx context.Context) ([]uint64, error)        // inodes of all network namespaces
	Answers    func(ctx context.Context, s *stage) error          // whether the guard's program answers a runtime; nil: it is run on the host
	// Uninstalled reports, at the end, whether no other guard daemon follows; nil: one may.
	Uninstalled func(ctx context.Context) (installation, error)
	Now         func() time.Time
	Log         *slog.Logger
}
