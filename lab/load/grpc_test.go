package load

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// serve answers calls as a gRPC server does, over HTTP/2 without TLS.
func serve(t *testing.T, answer func(request []byte) (reply []byte, status, text string)) *store {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || len(b) < 5 || int(binary.BigEndian.Uint32(b[1:])) != len(b)-5 {
			t.Errorf("request of %d bytes: %v", len(b), err)
			return
		}
		reply, status, text := answer(b[5:])
		w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
		frame := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(reply)))
		_, _ = w.Write(append(frame, reply...))
		w.Header().Set("Grpc-Status", status)
		w.Header().Set("Grpc-Message", text)
	}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return newStore(s.URL, nil)
}

func TestTransaction(t *testing.T) {
	t.Parallel()
	var reply message
	reply.nest(1, func() {
		reply.number(1, 1<<63) // the cluster's identifier
		reply.number(3, 4711)
	})
	reply.number(2, 1)
	s := serve(t, func(request []byte) ([]byte, string, string) {
		if !strings.Contains(string(request), "/registry/pods/x") || !strings.Contains(string(request), "value") {
			t.Errorf("request %q", request)
		}
		return reply, "0", ""
	})
	revision, written, err := s.txn(t.Context(), "", []put{{"/registry/pods/x", []byte("value")}})
	if revision != 4711 || !written || err != nil {
		t.Errorf("revision %d, written %v, %v", revision, written, err)
	}
}

func TestRefusalsAndTimeoutsAreErrors(t *testing.T) {
	t.Parallel()
	s := serve(t, func([]byte) ([]byte, string, string) { return nil, "7", "permission denied" })
	if _, _, err := s.txn(t.Context(), "", []put{{key: "/calico/x"}}); !errors.Is(err, errEtcd) || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("refusal: %v", err)
	}
	slow := serve(t, func([]byte) ([]byte, string, string) {
		time.Sleep(300 * time.Millisecond)
		return nil, "0", ""
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := slow.txn(ctx, "", []put{{key: "/calico/x"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("timeout: %v", err)
	}
}
