package write

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/observe"
)

// errHeld means that another apply holds the lease.
var errHeld = errors.New("another apply is running")

// A Lease keeps two people from repairing a cluster at the same time. It is advisory: each
// object is protected by the atomic update of its own write.
type Lease struct {
	w        *Writer
	id       string
	now      leaseObject // as last written or read; owned by the goroutine until it ends
	clock    serverClock
	good     atomic.Int64         // uptime, in ns, when the last successful renewal was sent
	uptime   func() time.Duration // goes on while the machine is suspended
	lost     chan struct{}
	end      context.CancelFunc
	finished chan struct{}
}

// A serverClock returns the API server's time without asking again. It counts from when the
// request was sent, so it is behind by at most the second to which a Date is rounded.
type serverClock struct {
	at   time.Time
	sent time.Duration // observe.Uptime
}

func (c serverClock) now() time.Time { return c.at.Add(observe.Uptime() - c.sent) }

// Acquire takes the lease and keeps it until Release or the end of the context. A second
// caller gets the holder in its error.
func (w *Writer) Acquire(ctx context.Context, holder string) (*Lease, error) {
	holder = strings.TrimSpace(kube.Readable(holder))
	if holder == "" || len(holder) > 150 {
		return nil, fmt.Errorf("%.80q is not a valid holder of the lease", holder)
	}
	ns, err := w.home(ctx)
	if err != nil {
		return nil, fmt.Errorf("take the lease: %w", err)
	}
	l := &Lease{w: w, id: holder + "_" + rand.Text(), uptime: observe.Uptime, lost: make(chan struct{}), finished: make(chan struct{})}
	for range 3 { // lost races and lost answers
		if err = l.take(ctx, ns); err == nil || errors.Is(err, errHeld) || errors.Is(err, execute.ErrRefused) || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("take the lease: %w", err)
	}
	own, end := context.WithCancel(ctx)
	l.end = end
	go l.keep(own)
	return l, nil
}

// home is the namespace of the lease: Plumbline's own if it is installed. A lease from
// before it was installed counts too.
func (w *Writer) home(ctx context.Context) (string, error) {
	_, there, err := w.read(ctx, "/api/v1/namespaces/"+w.namespace)
	if err != nil {
		return "", err
	}
	if !there {
		return "kube-system", nil
	}
	if _, err := w.get(ctx, "kube-system"); err != nil {
		return "", err
	}
	a, there, err := w.inUsual(ctx, leaseAt(kube.AgentNamespace)+"/"+leaseName)
	if err != nil || !there {
		return w.namespace, err
	}
	o, err := readLease(a.body)
	if err == nil && !o.free(a.at) {
		err = held(o, kube.AgentNamespace)
	}
	return w.namespace, err
}

// A looked is a lease that nobody holds, or that does not exist.
type looked struct {
	lease leaseObject
	clock serverClock
}

func leaseAt(ns string) string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + ns + "/leases"
}

// get reads a lease; if another holds it the error is errHeld, with the lease.
func (w *Writer) get(ctx context.Context, ns string) (looked, error) {
	out := looked{lease: leaseObject{Metadata: leaseMeta{identity: identity{Name: leaseName, Namespace: ns}}}}
	a, there, err := w.read(ctx, leaseAt(ns)+"/"+leaseName)
	if err != nil {
		return out, err
	}
	if a.at.IsZero() {
		return out, errors.New("the API server's answer has no Date header")
	}
	out.clock = serverClock{at: a.at, sent: a.sent}
	if !there {
		return out, nil
	}
	if out.lease, err = readLease(a.body); err != nil {
		return out, err
	}
	if !out.lease.free(a.at) {
		err = held(out.lease, ns)
	}
	return out, err
}

// held says who holds a lease.
func held(o leaseObject, ns string) error {
	who := o.Spec.HolderIdentity
	if i := strings.LastIndexByte(who, '_'); i > 0 {
		who = who[:i]
	}
	return fmt.Errorf("%w: held by %s since %s; if it no longer runs, the lease expires %d seconds after its last renewal; or delete lease %s/%s",
		errHeld, kube.Readable(who), kube.Readable(o.Spec.AcquireTime), o.Spec.LeaseDurationSeconds, ns, leaseName)
}

// take makes the lease ours if it is free or, after a lost answer, already ours.
func (l *Lease) take(ctx context.Context, ns string) error {
	got, err := l.w.get(ctx, ns)
	l.clock, l.now = got.clock, got.lease
	if errors.Is(err, errHeld) && got.lease.Spec.HolderIdentity == l.id {
		err = nil
	}
	if err != nil {
		return err
	}
	return l.write(ctx, l.now.taken(l.id, l.clock.now()))
}

// write updates the lease if it is unchanged since it was read.
func (l *Lease) write(ctx context.Context, want leaseObject) error {
	ctx, cancel := context.WithTimeout(ctx, renewWait)
	defer cancel()
	sent := l.uptime()
	named := l.w.fence(ctx, &want)
	body, err := json.Marshal(want)
	if err != nil {
		return err
	}
	r := kube.Request{Method: http.MethodPost, Path: leaseAt(want.Metadata.Namespace), Accept: kube.AcceptJSON, Body: body, Header: http.Header{"Content-Type": {kube.AcceptJSON}}}
	if want.Metadata.UID != "" {
		r.Method, r.Path = http.MethodPut, r.Path+"/"+leaseName
	}
	a, err := l.w.write(ctx, r)
	if err != nil {
		return err
	}
	now, err := readLease(a.body)
	if err != nil {
		return err
	}
	named()
	l.now = now
	l.good.Store(int64(sent))
	if !a.at.IsZero() {
		l.clock = serverClock{at: a.at, sent: a.sent}
	}
	return nil
}
