package executetest

import (
	"encoding/json"
	"errors"
	"testing"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
)

func handleObject(n string) model.Object {
	return model.Object{Ref: handleRef("net.Abc"), Body: json.RawMessage(`{"handleID":"net.Abc","block":{"10.0.0.0/29":` + n + `},"later":18446744073709551615}`)}
}

// TestStoreCompares: what the API server and etcd refuse, the store refuses.
func TestStoreCompares(t *testing.T) {
	for _, etcd := range []bool{false, true} {
		var counter uint64
		s := NewStore(etcd, &counter, func() model.Time { return 1 })
		ctx := t.Context()
		stale := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, execute.ErrStale) {
				t.Errorf("etcd %v: %s: %v", etcd, what, err)
			}
		}
		one, err := s.Put(ctx, handleObject("1"))
		if err != nil || !one.There() || one.UID == "" {
			t.Fatalf("create: %+v, %v", one, err)
		}
		_, err = s.Put(ctx, handleObject("1"))
		stale("create what is there", err)
		two := one
		two.Body = handleObject("2").Body
		two, err = s.Put(ctx, two)
		if err != nil || two.Revision == one.Revision || string(two.Body) != string(handleObject("2").Body) {
			t.Fatalf("write: %+v, %v", two, err)
		}
		_, err = s.Put(ctx, one)
		stale("write with an old revision", err)
		stale("delete with an old revision", s.Delete(ctx, one))
		same, err := s.Put(ctx, two)
		if err != nil || (same.Revision == two.Revision) == etcd {
			t.Errorf("etcd %v: write what is there already: %+v, %v", etcd, same, err)
		}
		if !etcd {
			other := same
			other.UID = "another"
			_, err = s.Put(ctx, other)
			stale("write another of that name", err)
		}
		same.Body[0] = 'X' // a copy
		if live, _ := s.Get(ctx, same.Ref); live.Body[0] != '{' {
			t.Errorf("etcd %v: what was read is what is stored", etcd)
		}
		if err := s.Delete(ctx, same); err != nil {
			t.Error(err)
		}
		gone, err := s.Get(ctx, same.Ref)
		if err != nil || gone.There() {
			t.Errorf("deleted: %+v, %v", gone, err)
		}
		_, err = s.Put(ctx, two)
		stale("write what is gone", err)
		stale("delete what is gone", s.Delete(ctx, two))
	}
}
