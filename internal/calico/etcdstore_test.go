package calico

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
)

// A wire serves one value and notes the transactions that it is sent; it compares nothing.
type wire struct {
	clientv3.KV
	value []byte
	fail  error
	cmps  []clientv3.Cmp
	ops   []clientv3.Op
}

func (w *wire) Get(context.Context, string, ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return &clientv3.GetResponse{Kvs: []*mvccpb.KeyValue{{CreateRevision: 3, ModRevision: 7, Value: w.value}}}, w.fail
}
func (w *wire) Txn(context.Context) clientv3.Txn { return w }
func (w *wire) If(c ...clientv3.Cmp) clientv3.Txn {
	w.cmps = append(w.cmps, c...)
	return w
}

func (w *wire) Then(o ...clientv3.Op) clientv3.Txn {
	w.ops = append(w.ops, o...)
	return w
}
func (w *wire) Else(...clientv3.Op) clientv3.Txn { return w }
func (w *wire) Commit() (*clientv3.TxnResponse, error) {
	if w.fail != nil {
		return nil, w.fail
	}
	return &clientv3.TxnResponse{Header: &etcdserverpb.ResponseHeader{Revision: 9}, Succeeded: true}, nil
}

func wired() (*wire, *EtcdStore) {
	w := &wire{value: []byte(`{"block":{}}`)}
	return w, (&Etcd{kv: w, timeout: time.Second}).Store()
}

func TestEtcdIdentity(t *testing.T) {
	t.Parallel()
	_, s := wired()
	o, err := s.Get(t.Context(), handleH)
	if err != nil || o.UID != "3" || o.Revision != "7" || string(o.Body) != `{"block":{}}` {
		t.Fatalf("%+v, %v", o, err)
	}
	if o, err = s.Put(t.Context(), o); err != nil || o.UID != "3" || o.Revision != "9" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = s.Put(t.Context(), model.Object{Ref: handleH, Body: o.Body}); err != nil || o.UID != "9" || o.Revision != "9" {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestEtcdNeverWithoutCompare: to etcd revision 0 is that of a key that is not there, so
// that an update would create.
func TestEtcdNeverWithoutCompare(t *testing.T) {
	t.Parallel()
	for _, o := range []model.Object{{UID: "3", Revision: "0"}, {UID: "0", Revision: "7"}, {UID: "", Revision: "7"}, {UID: "3", Revision: "-1"}, {UID: "3", Revision: "x"}, {UID: "3", Revision: "99999999999999999999"}} {
		w, s := wired()
		o.Ref, o.Body = handleH, json.RawMessage(`{}`)
		if _, err := s.Put(t.Context(), o); !errors.Is(err, execute.ErrStale) {
			t.Errorf("%+v: %v", o, err)
		}
		if err := s.Delete(t.Context(), o); !errors.Is(err, execute.ErrStale) {
			t.Errorf("%+v: %v", o, err)
		}
		if len(w.ops) > 0 {
			t.Errorf("%+v: sent", o)
		}
	}
	w, s := wired()
	if err := s.Delete(t.Context(), model.Object{Ref: handleH}); !errors.Is(err, execute.ErrStale) || len(w.ops) > 0 {
		t.Errorf("deletion of nothing: %v", err)
	}
}

func TestEtcdDryRunSendsNoWrite(t *testing.T) {
	t.Parallel()
	w, s := wired()
	s.DryRun = true
	o := model.Object{Ref: handleH, UID: "3", Revision: "7", Body: json.RawMessage(`{}`)}
	now, err := s.Put(t.Context(), o)
	if err != nil || now.Revision != "7" {
		t.Errorf("%+v, %v", now, err)
	}
	if err := s.Delete(t.Context(), o); err != nil {
		t.Error(err)
	}
	if len(w.ops) != 2 || len(w.cmps) != 4 || !w.ops[0].IsGet() || !w.ops[1].IsGet() || w.ops[0].IsSerializable() {
		t.Errorf("%d compares, %+v", len(w.cmps), w.ops)
	}
}

// TestEtcdRefusedOrUnknown: etcd says that there is no space after it has written, too.
func TestEtcdRefusedOrUnknown(t *testing.T) {
	t.Parallel()
	for err, refused := range map[error]bool{
		rpctypes.ErrPermissionDenied: true, rpctypes.ErrRequestTooLarge: true, rpctypes.ErrInvalidAuthToken: true,
		rpctypes.ErrNoSpace: false, rpctypes.ErrTimeout: false, rpctypes.ErrLeaderChanged: false, context.DeadlineExceeded: false,
	} {
		w, s := wired()
		w.fail = err
		_, got := s.Put(t.Context(), model.Object{Ref: handleH, Body: json.RawMessage(`{}`)})
		if got == nil || errors.Is(got, execute.ErrRefused) != refused || errors.Is(got, execute.ErrStale) {
			t.Errorf("%v became %v", err, got)
		}
	}
}

func TestEtcdValuesThatAreNone(t *testing.T) {
	t.Parallel()
	w, s := wired()
	w.value = []byte("{")
	if _, err := s.Get(t.Context(), handleH); !errors.Is(err, errNoJSON) {
		t.Errorf("%v", err)
	}
	w.value = nil
	if _, err := s.Get(t.Context(), handleH); !errors.Is(err, errNoJSON) {
		t.Errorf("%v", err)
	}
	if o, err := s.Get(t.Context(), model.Ref{Kind: model.KindAffinity, Name: "w/10.0.0.0/26"}); err != nil || string(o.Body) != "{}" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, o := range []model.Object{{Ref: handleH, Body: json.RawMessage("{")}, {Ref: handleH}, {Ref: handleH, Body: json.RawMessage("null")}, {Ref: model.Ref{Kind: model.KindBlock, Name: "10.0.0.0/26"}, Body: json.RawMessage(`{"cidr":"10.0.0.64/26"}`)}} {
		if _, err := s.Put(t.Context(), o); !errors.Is(err, execute.ErrRefused) || len(w.ops) > 0 {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
