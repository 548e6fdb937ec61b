package load

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// etcdServer answers transactions as etcd does, without storing anything.
type etcdServer struct {
	etcdserverpb.UnimplementedKVServer
	answer func(*etcdserverpb.TxnRequest) (*etcdserverpb.TxnResponse, error)
}

func (s etcdServer) Txn(_ context.Context, r *etcdserverpb.TxnRequest) (*etcdserverpb.TxnResponse, error) {
	return s.answer(r)
}

// serve starts a server and connects to it.
func serve(t testing.TB, answer func(*etcdserverpb.TxnRequest) (*etcdserverpb.TxnResponse, error)) *store {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	etcdserverpb.RegisterKVServer(g, etcdServer{answer: answer})
	go func() { _ = g.Serve(l) }() // ends with Stop
	t.Cleanup(g.Stop)
	s, err := openStore("http://"+l.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.client.Close() })
	return s
}

func accepted(revision int64) *etcdserverpb.TxnResponse {
	return &etcdserverpb.TxnResponse{Header: &etcdserverpb.ResponseHeader{Revision: revision}, Succeeded: true}
}

func TestTransaction(t *testing.T) {
	t.Parallel()
	s := serve(t, func(r *etcdserverpb.TxnRequest) (*etcdserverpb.TxnResponse, error) {
		p := r.GetSuccess()[0].GetRequestPut()
		if string(p.GetKey()) != "/registry/pods/x" || string(p.GetValue()) != "value" {
			t.Errorf("request %v", r)
		}
		if len(r.GetCompare()) == 1 && string(r.GetCompare()[0].GetKey()) == "/registry/pods/x" && r.GetCompare()[0].GetVersion() == 0 {
			return &etcdserverpb.TxnResponse{Header: &etcdserverpb.ResponseHeader{Revision: 4712}}, nil // the key exists
		}
		return accepted(4711), nil
	})
	puts := []put{{"/registry/pods/x", []byte("value")}}
	if revision, written, err := s.txn(t.Context(), "", puts); revision != 4711 || !written || err != nil {
		t.Errorf("revision %d, written %v, %v", revision, written, err)
	}
	if revision, written, err := s.txn(t.Context(), "/registry/pods/x", puts); revision != 4712 || written || err != nil {
		t.Errorf("only if absent: revision %d, written %v, %v", revision, written, err)
	}
}

func TestRefusalsAndTimeoutsAreErrors(t *testing.T) {
	t.Parallel()
	s := serve(t, func(*etcdserverpb.TxnRequest) (*etcdserverpb.TxnResponse, error) {
		return nil, status.Error(codes.PermissionDenied, "permission denied")
	})
	if _, _, err := s.txn(t.Context(), "", []put{{key: "/calico/x"}}); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("refusal: %v", err)
	}
	slow := serve(t, func(*etcdserverpb.TxnRequest) (*etcdserverpb.TxnResponse, error) {
		time.Sleep(300 * time.Millisecond)
		return accepted(1), nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := slow.txn(ctx, "", []put{{key: "/calico/x"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("timeout: %v", err)
	}
}
