//go:build e2e

package calico

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// retold is a list, and what was told since.
type retold struct {
	mu             sync.Mutex
	rows           map[model.Ref]any
	since          map[model.Table]string
	history        map[model.Ref][]string
	told, tellings int
	ended          error
}

func listed(t *testing.T, cs []observe.Collector) *retold {
	t.Helper()
	s := observe.Snapshot(t.Context(), func(string, int, bool) {}, cs...)
	m := &retold{rows: map[model.Ref]any{}, history: map[model.Ref][]string{}, since: map[model.Table]string{}}
	for _, cov := range s.Coverage {
		if !cov.State.Seen() {
			t.Fatalf("%+v", cov)
		}
		m.since[cov.Table] = cov.Revision
	}
	keep(m, s.Handles, (*model.Handle).Ref)
	keep(m, s.Blocks, (*model.Block).Ref)
	keep(m, s.Affinities, (*model.Affinity).Ref)
	keep(m, s.Pools, (*model.Pool).Ref)
	keep(m, s.Endpoints, (*model.Endpoint).Ref)
	keep(m, s.Reservations, reservationRef)
	keep(m, s.Hosts, (*model.Host).Ref)
	keep(m, s.Info, func(*model.Info) model.Ref { return observe.ClusterRef })
	keep(m, s.Collector, func(*model.GarbageCollectorConfig) model.Ref { return observe.CollectorRef })
	return m
}

func keep[T any](m *retold, rows []T, ref func(*T) model.Ref) {
	for i := range rows {
		m.rows[ref(&rows[i])] = &rows[i]
	}
}

func follows(t *testing.T, cs []observe.Collector, f observe.Follower) *retold {
	t.Helper()
	m := listed(t, cs)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := f.Follow(ctx, m.since, m.take)
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.ended = err; ctx.Err() != nil {
			m.ended = nil
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return m
}

func (m *retold) take(cs []observe.Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tellings++
	for _, c := range cs {
		m.told++
		said := "gone"
		if c.Row == nil {
			delete(m.rows, c.Ref)
		} else {
			m.rows[c.Ref] = c.Row
			said = fmt.Sprintf("%+v", reflect.ValueOf(c.Row).Elem())
		}
		m.history[c.Ref] = append(m.history[c.Ref], said)
	}
}

func (m *retold) differs(want map[model.Ref]any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended != nil {
		return m.ended
	}
	for r, row := range want {
		if !reflect.DeepEqual(m.rows[r], row) {
			return fmt.Errorf("%s: told %+v, listed %+v", r, m.rows[r], row)
		}
	}
	for r := range m.rows {
		if _, there := want[r]; !there {
			return fmt.Errorf("%s: told, and not there", r)
		}
	}
	return nil
}
