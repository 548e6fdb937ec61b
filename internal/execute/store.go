// Package execute executes plans. All safety checks are here, once: budget, live read,
// comparison, live verification by the agents, journal, atomic update, verification after the
// last write, and undo or stop. It does not depend on the API server or etcd: those are
// Stores.
package execute

import (
	"context"
	"errors"
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// Errors of a Store.
var (
	// ErrStale means that the object changed since it was read: nothing was written.
	ErrStale = errors.New("another writer changed the object")
	// ErrRefused means that the server or agent rejected the write permanently: nothing was written.
	ErrRefused = errors.New("refused")
	// After any other error of a write it is not known whether it was done.
)

// A Store reads and writes objects with compare-and-swap: the API server, or etcd.
type Store interface {
	// Get reads an object live, without a cache. An absent object has no revision; that is
	// not an error.
	Get(ctx context.Context, r model.Ref) (model.Object, error)
	// Put writes o if the object still has o.UID and o.Revision; without a revision it creates
	// it. It returns the object as written.
	Put(ctx context.Context, o model.Object) (model.Object, error)
	// Delete deletes the object if it still has o.UID and o.Revision.
	Delete(ctx context.Context, o model.Object) error
}

// A restarter deletes a pod of Calico, which its controller creates again. A Store of pods may
// implement it; else the pod is evicted.
type restarter interface {
	RestartPod(ctx context.Context, r model.Ref, uid string) error
}

// Pods finds pods by address and by node, live.
type Pods interface {
	// PodsOn lists all pods that are bound to the node, finished ones included.
	PodsOn(ctx context.Context, node string) ([]model.Object, error)
	// CalicoNodes lists the pods with the label of calico-node.
	CalicoNodes(ctx context.Context) ([]model.Object, error)
	// PodsWith lists the pods that have the address in their status, finished ones included.
	PodsWith(ctx context.Context, ip netip.Addr) ([]model.Object, error)
}

// Nodes gives live verifications by the agents.
type Nodes interface {
	// Names lists every node that could use an address, with or without an agent.
	Names(ctx context.Context) ([]string, error)
	// Ask has the agent on a node verify addresses and containers now. With neither it
	// reports every sandbox, CNI result and CNI call of the node (Verification.All).
	Ask(ctx context.Context, node string, ips []netip.Addr, containers []string) (model.Verification, error)
	// Published returns the names that Calico has used for a node since it booted, as its agent
	// last published them; false if that is not known.
	Published(ctx context.Context, node string) (names []string, ok bool)
}
