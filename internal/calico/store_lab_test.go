//go:build e2e

package calico

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
)

// What the tests write: one of each kind, with numbers that no float holds.
var (
	aBlock    = model.Ref{Kind: model.KindBlock, Name: "10.250.0.0/30"}
	aHandle   = model.Ref{Kind: model.KindHandle, Name: "Net.C1"}
	anAffine  = model.Ref{Kind: model.KindAffinity, Name: "w1/10.250.0.0/30"}
	anEnd     = model.Ref{Kind: model.KindEndpoint, Name: "default/w1-k8s-a-eth0"}
	writables = []model.Ref{aBlock, aHandle, anAffine}
)

// version is the n-th state of an object.
func version(r model.Ref, n int) json.RawMessage {
	switch r.Kind {
	case model.KindBlock:
		return json.RawMessage(fmt.Sprintf(`{"cidr":%q,"affinity":"host:w1","allocations":[0,null,null,null],"unallocated":[1,2,3],"attributes":[{"handle_id":"Net.C1","secondary":{"node":"w1"}}],"sequenceNumber":%d,"sequenceNumberForAllocation":{"0":9007199254740993},"deleted":false,"strictAffinity":false}`,
			r.Name, 1800000000000000001+n))
	case model.KindHandle:
		return json.RawMessage(fmt.Sprintf(`{"handleID":%q,"block":{"10.250.0.0/30":%d},"deleted":false}`, r.Name, n))
	case model.KindAffinity:
		node, cidr := nodeAndRange(r)
		return json.RawMessage(fmt.Sprintf(`{"node":%q,"cidr":%q,"type":"host","state":"pending%d","deleted":"false"}`, node, cidr, n))
	default:
		return json.RawMessage(fmt.Sprintf(`{"kind":"WorkloadEndpoint","spec":{"n":%d}}`, n))
	}
}

// contract is what both stores promise; by is another hand on the same ground.
func contract(t *testing.T, s, by execute.Store, refs []model.Ref) {
	t.Helper()
	ctx := t.Context()
	for _, r := range refs {
		must := func(o model.Object, err error) model.Object {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", r, err)
			}
			return o
		}
		stale := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, execute.ErrStale) || errors.Is(err, execute.ErrRefused) {
				t.Errorf("%s: %s: %v", r, what, err)
			}
		}
		put := func(s execute.Store, o model.Object, n int) (model.Object, error) {
			o.Body = version(r, n)
			return s.Put(ctx, o)
		}
		none := must(s.Get(ctx, r))
		if none.There() || none.Ref != r {
			t.Fatalf("%s: %+v before it was made", r, none)
		}
		stale("deletion of what is not there", s.Delete(ctx, none))
		first := must(put(s, none, 1))
		if got := must(s.Get(ctx, r)); got.UID != first.UID || got.Revision != first.Revision || first.UID == "" || !same(t, got.Body, version(r, 1)) {
			t.Errorf("%s: written %+v, read %+v", r, first, got)
		}
		_, err := put(s, none, 2)
		stale("made twice", err)
		second := must(put(by, first, 2)) // another hand; s still remembers the first
		if second.UID != first.UID || second.Revision == first.Revision {
			t.Errorf("%s: %+v became %+v", r, first, second)
		}
		_, err = put(s, first, 3)
		stale("an old revision", err)
		stale("deletion of an old revision", s.Delete(ctx, first))
		for _, wrong := range []model.Object{{UID: "1", Revision: second.Revision}, {UID: second.UID, Revision: "1"}, {UID: second.UID, Revision: "0"}, {UID: "x", Revision: "x"}, {Revision: second.Revision}} {
			wrong.Ref = r
			_, err = put(s, wrong, 3)
			stale("a wrong identity", err)
			stale("deletion by a wrong identity", s.Delete(ctx, wrong))
		}
		if got := must(s.Get(ctx, r)); got.Revision != second.Revision || !same(t, got.Body, version(r, 2)) {
			t.Errorf("%s: what was stale was written: %+v", r, got)
		}
		if err := by.Delete(ctx, second); err != nil {
			t.Fatal(err)
		}
		stale("deletion of what is gone", s.Delete(ctx, second))
		_, err = put(s, second, 3)
		stale("an update of what is gone", err)
		if got := must(s.Get(ctx, r)); got.There() {
			t.Errorf("%s: made by an update: %+v", r, got)
		}
		again := must(put(by, none, 2)) // the same body, and yet another
		_, err = put(s, second, 3)
		stale("an update of what was made again", err)
		stale("deletion of what was made again", s.Delete(ctx, second))
		_, err = put(s, model.Object{Ref: r, UID: second.UID, Revision: again.Revision}, 3)
		stale("the UID of one that is gone", err)
		stale("deletion by the UID of one that is gone", s.Delete(ctx, model.Object{Ref: r, UID: second.UID, Revision: again.Revision}))
		if err := s.Delete(ctx, again); err != nil {
			t.Errorf("%s: %v", r, err)
		}
		if got := must(by.Get(ctx, r)); got.There() {
			t.Errorf("%s: still there: %+v", r, got)
		}
	}
}

func same(t *testing.T, a, b []byte) bool {
	t.Helper()
	return reflect.DeepEqual(generic(t, a), generic(t, b))
}

// dry tries everything and finds nothing changed.
func dry(t *testing.T, s, dry execute.Store, r model.Ref) {
	t.Helper()
	ctx := t.Context()
	o := model.Object{Ref: r, Body: version(r, 1)}
	if _, err := dry.Put(ctx, o); err != nil {
		t.Error(err)
	}
	if got, err := s.Get(ctx, r); err != nil || got.There() {
		t.Fatalf("a dry run made %+v, %v", got, err)
	}
	real, err := s.Put(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dry.Put(ctx, o); !errors.Is(err, execute.ErrStale) {
		t.Errorf("a dry run makes it twice: %v", err)
	}
	o = real
	o.Body = version(r, 2)
	if _, err := dry.Put(ctx, o); err != nil {
		t.Error(err)
	}
	if err := dry.Delete(ctx, real); err != nil {
		t.Error(err)
	}
	old := real
	old.Revision = "1"
	if err := dry.Delete(ctx, old); !errors.Is(err, execute.ErrStale) {
		t.Errorf("a dry run deletes what has changed: %v", err)
	}
	if got, err := s.Get(ctx, r); err != nil || got.Revision != real.Revision || !same(t, got.Body, version(r, 1)) {
		t.Errorf("a dry run changed %+v to %+v, %v", real, got, err)
	}
	if err := s.Delete(ctx, real); err != nil {
		t.Error(err)
	}
}
