package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// How often tables are read. Those of the kernel are read when it reports a change, and
// once a minute in case it did not; the others have no notification.
const (
	kernelEvery = time.Minute
	hostEvery   = 5 * time.Second
	gap         = 25 * time.Millisecond // changes come in bursts
	share       = 2                     // a poller pauses this many times as long as it reads,
	maxRest     = 50 * time.Millisecond // but a change must not wait long
)

// periods are those of collectors that cost more, or that are also notified of changes.
var periods = map[model.Table]time.Duration{
	model.Mounts:     15 * time.Second, // every mount namespace has a table of its own
	model.Processes:  10 * time.Second, // every thread is read
	model.Machines:   15 * time.Second,
	model.CNIConfigs: 30 * time.Second,
	model.FailedDels: 20 * time.Second, // the kubelet retries every minute
	model.Proxies:    10 * time.Second,
	model.HostLocal:  15 * time.Second,
	model.Firewall:   10 * time.Second, // kube-proxy and Felix change other chains all the time
}

// A poller keeps the tables of one collector current. A read that hangs blocks only its own
// poller. mu guards begun, done and ended.
type poller struct {
	s         *Server
	collector observe.NodeCollector
	every     time.Duration
	wake      chan struct{} // read soon
	now       chan struct{} // read now: a caller waits

	mu    sync.Mutex
	begun uint64        // number of the last read that began
	done  uint64        // number of the last read that ended; invariant: done <= begun
	ended chan struct{} // closed and replaced at the end of each read
}

func newPoller(s *Server, collector observe.NodeCollector) *poller {
	k := &poller{s: s, collector: collector, every: periods[collector.Tables[0]], wake: make(chan struct{}, 1), now: make(chan struct{}, 1), ended: make(chan struct{})}
	switch {
	case collector.Tables[0] <= model.Sysctls:
		k.every = kernelEvery
	case k.every == 0:
		k.every = hostEvery
	}
	return k
}

func (k *poller) keeps(tables []model.Table) bool {
	return slices.ContainsFunc(tables, func(t model.Table) bool { return slices.Contains(k.collector.Tables, t) })
}

// rouse has the tables read soon.
func (k *poller) rouse() {
	select {
	case k.wake <- struct{}{}:
	default: // it is already due
	}
}

func (k *poller) run(ctx context.Context) {
	tick := time.NewTicker(k.every)
	defer tick.Stop()
	for {
		rest := min(share*k.read(ctx), maxRest)
		ended := k.s.now()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-k.wake:
		case <-k.now:
			continue
		}
		select { // wait for the end of the burst
		case <-ctx.Done():
			return
		case <-time.After(max(gap, rest-k.s.now().Sub(ended))):
		case <-k.now:
		}
		select {
		case <-k.wake:
		default:
		}
	}
}

// again has the tables read and reports whether a read that began after the call has ended
// before ctx did.
func (k *poller) again(ctx context.Context) bool {
	k.mu.Lock()
	want, ended := k.begun+1, k.ended
	k.mu.Unlock()
	select {
	case k.now <- struct{}{}:
	default: // another caller waits too
	}
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ended:
		}
		k.mu.Lock()
		over := k.done >= want
		ended = k.ended
		k.mu.Unlock()
		if over {
			return true
		}
	}
}

// read reads once and returns how long that took.
func (k *poller) read(ctx context.Context) time.Duration {
	began, heard := k.s.now(), time.Time{}
	if k.keeps([]model.Table{model.Links, model.Routes, model.Neighbours}) {
		heard = k.s.writers.begin()
	}
	k.mu.Lock()
	k.begun++
	this := k.begun
	k.mu.Unlock()
	f, seen := k.s.reader.Read(ctx, k.collector.Tables...)
	if ctx.Err() == nil {
		k.s.store.put(f, seen, heard, k.s.now())
	}
	k.mu.Lock()
	k.done = this
	close(k.ended)
	k.ended = make(chan struct{})
	k.mu.Unlock()
	return k.s.now().Sub(began)
}
