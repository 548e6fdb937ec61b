package observe

import (
	"context"
	"errors"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// ErrGone means that the server no longer has the changes since the list (compacted): all
// tables must be listed again.
var ErrGone = errors.New("changes since the list are no longer available; list again")

// A Change is one row that was added, changed or deleted.
type Change struct {
	Ref model.Ref // the row, as its Ref() returns it
	Row any       // *model.Pod, Node, Service, VM, Block, Handle, Affinity, Pool, Endpoint or Host, owned by the receiver; nil: deleted
	At  time.Time // when it was received, by the local clock; only for latencies
}

// A Follower watches some tables after a list, until ctx ends or it can no longer follow
// (ErrGone: all tables must be listed again).
type Follower interface {
	Tables() []model.Table
	// Follow starts after the revisions of the list, by table, as in its coverage. Changes of
	// one object are told in order and none is lost while Follow runs. tell may be called from
	// several goroutines, and owns the slice that it gets.
	Follow(ctx context.Context, since map[model.Table]string, tell func([]Change)) error
}
