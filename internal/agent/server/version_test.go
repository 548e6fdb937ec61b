package server

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"plumbline.dev/plumbline/internal/agent"
)

// Refusals and unknown paths have the version too.
func TestEveryAnswerHasTheVersion(t *testing.T) {
	t.Parallel()
	s := New(Config{Node: "n1", Log: slog.New(slog.DiscardHandler), Now: now})
	h := s.http(s.door.Wrap("get", s.handler())).Handler
	root := s.http(s.handler()).Handler
	for path, want := range map[string]int{agent.PathDigest: http.StatusOK, "v1/thing": http.StatusNotFound, agent.PathVerify: http.StatusBadRequest} {
		for code, h := range map[int]http.Handler{http.StatusUnauthorized: h, want: root} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/"+path, nil))
			if err := agent.CheckVersion(w.Header()); err != nil || w.Code != code {
				t.Errorf("%s: %d, want %d; %v", path, w.Code, code, err)
			}
		}
	}
}
