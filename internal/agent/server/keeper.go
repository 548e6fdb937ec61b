package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// How often tables are read. Those of the kernel are read when it tells of a change, and
// once a minute in case it did not; the rest has no such voice.
const (
	kernelEvery = time.Minute
	hostEvery   = 5 * time.Second
	gap         = 25 * time.Millisecond // changes come in swarms
	share       = 2                     // a keeper rests this many times as long as it reads,
	maxRest     = 50 * time.Millisecond // but a change must not wait for long
)

// periods are those of senses that cost more, or that hear of changes too.
var periods = map[model.Table]time.Duration{
	model.Mounts:     15 * time.Second, // every mount namespace has a table of its own
	model.Processes:  10 * time.Second, // every thread is looked at
	model.Machines:   15 * time.Second,
	model.CNIConfigs: 30 * time.Second,
}

// A keeper keeps the tables of one sense current. What hangs in it hangs there alone.
type poller struct {
	s         *Server
	collector observe.NodeCollector
	every     time.Duration
	wake      chan struct{}
	now       chan struct{} // somebody waits

	mu    sync.Mutex
	begun uint64        // looks
	done  uint64        // the last one that has ended
	ended chan struct{} // closed and replaced at the end of each look
}

func newPoller(s *Server, sense observe.NodeCollector) *poller {
	k := &poller{s: s, collector: sense, every: periods[sense.Tables[0]], wake: make(chan struct{}, 1), now: make(chan struct{}, 1), ended: make(chan struct{})}
	switch {
	case sense.Tables[0] <= model.Sysctls:
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
	default: // it is woken already
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
		select { // let the swarm pass
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

// again looks anew and comes back when a look that began after now has ended, or says no.
func (k *poller) again(ctx context.Context) bool {
	k.mu.Lock()
	want, ended := k.begun+1, k.ended
	k.mu.Unlock()
	select {
	case k.now <- struct{}{}:
	default: // somebody else waits too
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

// read looks once and gives how long that took.
func (k *poller) read(ctx context.Context) time.Duration {
	began := k.s.now()
	k.mu.Lock()
	k.begun++
	this := k.begun
	k.mu.Unlock()
	f, seen := k.s.reader.Read(ctx, k.collector.Tables...)
	if ctx.Err() == nil {
		k.s.store.put(f, seen, k.s.now())
	}
	k.mu.Lock()
	k.done = this
	close(k.ended)
	k.ended = make(chan struct{})
	k.mu.Unlock()
	return k.s.now().Sub(began)
}
