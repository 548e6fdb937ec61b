package executetest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

var (
	errCrashed = errors.New("we are dead")
	errNet     = errors.New("connection reset by peer")
)

// A line is how Plumbline reaches the world: at every call the world moves, requests and
// answers get lost, and Plumbline may die. After its death nothing that it does has effect.
type line struct {
	w      *world
	dead   bool
	writes int // so far
	crash  int // the write at which it dies; 0 means never
	after  bool
	flaky  bool
	other  func() // another Plumbline, which runs while this one stands still; at most once
}

// moves lets others go on, maybe for long: another Plumbline may do all of its work.
func (l *line) moves() error {
	if err := l.passes(); err != nil {
		return err
	}
	if other := l.other; other != nil && l.w.one(60) {
		l.other = nil
		other()
		l.w.deposed = true
	}
	return nil
}

// passes lets others go on while a request is on its way.
func (l *line) passes() error {
	if l.dead {
		return errCrashed
	}
	l.w.ticks(l.w.pick(4))
	return nil
}

// fails is a request that is lost on its way.
func (l *line) fails() bool { return l.flaky && l.w.one(50) }

// writing does one write, with all that can happen to it.
func (l *line) writing(do func() error) error {
	if err := l.passes(); err != nil { // the lease was asked for just before
		return err
	}
	if l.fails() {
		return errNet
	}
	l.writes++
	if l.writes == l.crash && !l.after {
		l.w.log("Plumbline dies before a write")
		l.dead = true
		return errCrashed
	}
	err := do()
	if l.writes == l.crash {
		l.w.log("Plumbline dies after a write")
		l.dead = true
		return errCrashed
	}
	switch {
	case !l.flaky:
	case l.w.one(40):
		return errNet // the answer is lost
	case l.w.one(60):
		return do() // the request came twice: the second answer is what we hear
	}
	return err
}

// A reach is one store at the other end of the line.
type reach struct {
	*line
	store *Store
}

func (r reach) Get(ctx context.Context, ref model.Ref) (model.Object, error) {
	if err := r.moves(); err != nil {
		return model.Object{}, err
	}
	if r.fails() {
		return model.Object{}, errNet
	}
	r.w.looked[ref] = r.w.now
	return r.store.Get(ctx, ref)
}

func (r reach) Put(ctx context.Context, o model.Object) (model.Object, error) {
	var out model.Object
	err := r.writing(func() (err error) {
		out, err = r.store.Put(ctx, o)
		return err
	})
	return out, err
}

// Delete of a pod is an eviction: it compares the UID only, and a budget may refuse it.
func (r reach) Delete(ctx context.Context, o model.Object) error {
	return r.writing(func() error {
		if o.Ref.Kind != model.KindPod {
			return r.store.Delete(ctx, o)
		}
		live := r.store.get(o.Ref)
		switch {
		case live == nil || live.uid != o.UID:
			return fmt.Errorf("%s: %w", o.Ref, execute.ErrStale)
		case r.w.one(10):
			return fmt.Errorf("%s: %w: it would violate the pod's disruption budget", o.Ref, execute.ErrRefused)
		case !live.value.(*pod).Deleted:
			r.w.deletes(plumbline, live)
		}
		return nil
	})
}

// RestartPod deletes a pod of calico-node.
func (r reach) RestartPod(_ context.Context, ref model.Ref, uid string) error {
	return r.writing(func() error {
		live := r.store.get(ref)
		switch {
		case live == nil || live.uid != uid:
			return fmt.Errorf("%s: %w", ref, execute.ErrStale)
		case !live.value.(*pod).Deleted:
			r.w.deletes(plumbline, live)
		}
		return nil
	})
}

// PodsOn lists the pods of a node.
func (r reach) PodsOn(_ context.Context, node string) ([]model.Object, error) {
	return r.pods(func(p *pod) bool { return p.Node == node })
}

// CalicoNodes lists the pods of calico-node.
func (r reach) CalicoNodes(context.Context) ([]model.Object, error) {
	return r.pods(func(p *pod) bool { return p.Owner == nodeOwner })
}

// PodsWith lists pods by the first address in their status.
func (r reach) PodsWith(_ context.Context, ip netip.Addr) ([]model.Object, error) {
	return r.pods(func(p *pod) bool { return len(p.IPs) > 0 && p.IPs[0] == ip.String() })
}

func (r reach) pods(which func(*pod) bool) ([]model.Object, error) {
	if err := r.moves(); err != nil {
		return nil, err
	}
	if r.fails() {
		return nil, errNet
	}
	var out []model.Object
	for _, row := range r.store.all(model.KindPod) {
		if which(row.value.(*pod)) {
			out = append(out, row.object())
		}
	}
	return out, nil
}

// asks is the agents at the other end of the line.
type asks struct {
	*line
	nodes execute.Nodes
}

func (a asks) Names(ctx context.Context) ([]string, error) {
	if err := a.moves(); err != nil {
		return nil, err
	}
	return a.nodes.Names(ctx)
}

func (a asks) Ask(ctx context.Context, node string, ips []netip.Addr, containers []string) (model.Verification, error) {
	if err := a.moves(); err != nil {
		return model.Verification{}, err
	}
	if a.fails() {
		return model.Verification{}, errNet
	}
	return a.nodes.Ask(ctx, node, ips, containers)
}

func (a asks) Published(ctx context.Context, node string) ([]string, bool) {
	if a.moves() != nil || a.fails() {
		return nil, false
	}
	return a.nodes.Published(ctx, node)
}

// A journal is what survives Plumbline's death.
type journal struct {
	*line
	entries []repair.Entry
}

func (j *journal) write(e repair.Entry) error {
	if j.dead {
		return errCrashed
	}
	j.entries = append(j.entries, e)
	return nil
}
