// Package executetest simulates a cluster in memory in which plans are executed while other
// writers are active: pods are created and deleted, CNI calls stop half way, the IPAM garbage
// collector releases addresses, agents do not answer, answers are lost, and Plumbline itself
// crashes. A run is determined by its seed: there is one goroutine and a simulated clock.
package executetest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
)

// A Store keeps objects with compare-and-swap, like the API server or like etcd.
type Store struct {
	etcd    bool
	counter *uint64 // of revisions; shared by all stores of one server
	uids    int
	rows    map[model.Ref]*row
	kinds   map[model.Kind][]*row // in order of creation: iteration must not depend on maps
	clock   func() model.Time
	wrote   func(write) // called after every write
}

// A row is one version of one object. It is immutable: a write creates a new row.
type row struct {
	ref      model.Ref
	uid      string
	revision uint64
	labels   map[string]string
	written  model.Time
	body     []byte // made when it is first asked for
	value    any    // likewise; *object.Block and so on
}

// A who is the writer.
type who uint8

const (
	others who = iota
	plumbline
)

// A write is one write of an object; nil means absent.
type write struct {
	by            who
	ref           model.Ref
	before, after *row
}

// NewStore creates an empty store. Stores that share a counter belong to one server.
func NewStore(etcd bool, counter *uint64, clock func() model.Time) *Store {
	return &Store{
		etcd: etcd, counter: counter, clock: clock, wrote: func(write) {},
		rows: map[model.Ref]*row{}, kinds: map[model.Kind][]*row{},
	}
}

// key is what a ref is stored under: custom resources are called by the handle's ID in
// lower case.
func (s *Store) key(r model.Ref) model.Ref {
	if r.Kind == model.KindHandle && !s.etcd {
		r.Name = strings.ToLower(r.Name)
	}
	return r
}

// get gives the version that is there now, or nil.
func (s *Store) get(r model.Ref) *row { return s.rows[s.key(r)] }

// all gives the objects of a kind, in the order in which they came.
func (s *Store) all(k model.Kind) []*row { return s.kinds[k] }

// swap replaces old by next if old is the current version; nil means absent. All changes go
// through swap.
func (s *Store) swap(by who, ref model.Ref, old, next *row) (*row, bool) {
	k := s.key(ref)
	if s.rows[k] != old {
		return nil, false
	}
	if next != nil {
		*s.counter++
		next.ref, next.revision, next.written = ref, *s.counter, s.clock()
		if old != nil {
			next.ref, next.uid = old.ref, old.uid
		} else {
			s.uids++
			next.uid = fmt.Sprintf("%08x-0000-4000-8000-%012x", s.uids, s.uids) // as the API server's look
			if s.etcd {
				next.uid = strconv.FormatUint(next.revision, 10) // a key that is created again is another object
			}
		}
		s.rows[k] = next
	} else {
		*s.counter++
		delete(s.rows, k)
	}
	of := s.kinds[ref.Kind]
	switch i := slices.Index(of, old); {
	case old == nil && next != nil:
		s.kinds[ref.Kind] = append(of, next)
	case next == nil && old != nil:
		s.kinds[ref.Kind] = slices.Delete(of, i, i+1)
	case old != nil:
		of[i] = next
	}
	s.wrote(write{by, ref, old, next})
	return next, true
}

// Get reads one object.
func (s *Store) Get(_ context.Context, r model.Ref) (model.Object, error) {
	if w := s.get(r); w != nil {
		return w.object(), nil
	}
	return model.Object{Ref: r}, nil
}

// Put writes it if it is still as it was read.
func (s *Store) Put(_ context.Context, o model.Object) (model.Object, error) {
	old, err := s.compare(&o)
	if err != nil {
		return model.Object{}, err
	}
	next := &row{labels: maps.Clone(o.Labels), body: bytes.Clone(o.Body)}
	if next.value, err = decode(o.Ref.Kind, next.body); err != nil {
		return model.Object{}, fmt.Errorf("%w: %w", execute.ErrRefused, err) // a server validates
	}
	if old != nil && o.Ref.Kind == model.KindPod {
		next = annotated(old, next)
	}
	if old != nil && !s.etcd && bytes.Equal(old.json(), next.json()) && maps.Equal(old.labels, next.labels) {
		return old.object(), nil // the API server does not write what changes nothing
	}
	now, _ := s.swap(plumbline, o.Ref, old, next)
	return now.object(), nil
}

// Delete removes it if it is still as it was read.
func (s *Store) Delete(_ context.Context, o model.Object) error {
	if o.Revision == "" {
		return fmt.Errorf("%s: %w", o.Ref, execute.ErrStale)
	}
	old, err := s.compare(&o)
	if err != nil {
		return err
	}
	s.swap(plumbline, o.Ref, old, nil)
	return nil
}

// compare checks UID and revision of a write.
func (s *Store) compare(o *model.Object) (*row, error) {
	old := s.get(o.Ref)
	switch {
	case o.Revision == "" && old == nil:
		return nil, nil
	case o.Revision == "" || old == nil || o.Revision != old.rev() || o.UID != old.uid:
		return nil, fmt.Errorf("%s: %w", o.Ref, execute.ErrStale)
	default:
		return old, nil
	}
}

func (w *row) rev() string { return strconv.FormatUint(w.revision, 10) }

// object is a copy that its reader may do with as he likes.
func (w *row) object() model.Object {
	return model.Object{Ref: w.ref, UID: w.uid, Revision: w.rev(), Labels: maps.Clone(w.labels), Body: bytes.Clone(w.json())}
}

// json is the body. Calico's and Kubernetes' own hands need none: it is made for those
// who ask from outside.
func (w *row) json() []byte {
	if w.body == nil {
		w.body = encode(w.value)
	}
	return w.body
}
