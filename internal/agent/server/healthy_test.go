package server

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestHealthy(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" || asked.Add(1) == 1 { // it is starting
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	host, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "https://"), ":")
	var out bytes.Buffer
	if err := healthy(t.Context(), Env{Stdout: &out}, flags{host: host, listen: ":" + port}); err != nil || asked.Load() != 2 || !strings.Contains(out.String(), "answers") {
		t.Errorf("%v after %d: %s", err, asked.Load(), out.String())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := healthy(ctx, Env{Stdout: &out}, flags{host: host, listen: ":1"}); err == nil {
		t.Error("nobody answers there")
	}
	if err := healthy(ctx, Env{Stdout: &out}, flags{host: host, listen: "none"}); err == nil {
		t.Error("no port")
	}
}
