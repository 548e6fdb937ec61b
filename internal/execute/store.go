// Package execute carries out plans. All safety is here, once: budget, live read, compare,
// witnesses, journal, compare-and-swap, witness again, verify, compensate or stop. It
// knows no API server and no etcd: those are Stores.
package execute

import (
	"context"
	"errors"
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// What a Store's answer can be besides an object.
var (
	// ErrStale means that the object is not as it was read: nothing was written.
	ErrStale = errors.New("somebody else wrote it meanwhile")
	// ErrRefused means that the other side said no for good: nothing was written.
	ErrRefused = errors.New("refused")
	// Any other error of a write leaves open whether it was done.
)

// A Store is one place that can be changed.
type Store interface {
	// Get reads an object live, past every cache. One that is not there has no revision,
	// which is no error.
	Get(ctx context.Context, r model.Ref) (model.Object, error)
	// Put writes it if it still has o.UID and o.Revision; with no revision it is created. The
	// answer is as it is now.
	Put(ctx context.Context, o model.Object) (model.Object, error)
	// Delete removes it if it still has o.UID and o.Revision.
	Delete(ctx context.Context, o model.Object) error
}

// A Restarter ends a pod of Calico's own, which its controller makes again. A Store of pods
// may be one; else it is evicted as any other.
type Restarter interface {
	RestartPod(ctx context.Context, r model.Ref, uid string) error
}

// Nodes are the agents: witnesses, and hands.
type Nodes interface {
	// Names lists every node that could use an address, whether or not it has an agent.
	Names(ctx context.Context) ([]string, error)
	// Ask has a node bear witness, now, about addresses and containers; with neither, it
	// names every sandbox, record and call that it has.
	Ask(ctx context.Context, node string, ips []netip.Addr, containers []string) (model.Verification, error)
}
