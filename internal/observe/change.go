package observe

import (
	"context"
	"errors"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// ErrGone means that the changes since the list are no longer to be had: all must be
// read anew.
var ErrGone = errors.New("the changes since the list are gone")

// A Change is one row that is new, other, or gone.
type Change struct {
	Ref model.Ref // which, as the rows' Ref() give it
	Row any       // *model.Pod, Node, Service, VM, Block, Handle, Affinity, Pool, Endpoint or Host, its own copy; nil: gone
	At  time.Time // when it was received
}

// A Follower tells the changes of some tables after a list was taken, until ctx ends or
// it can no longer follow (ErrGone: all must be read anew).
type Follower interface {
	Tables() []model.Table
	// Follow begins after the revisions of the list, by table, as its coverage has them.
	// Tell may be called from several goroutines, and keeps what it is given.
	Follow(ctx context.Context, since map[model.Table]string, tell func([]Change)) error
}
