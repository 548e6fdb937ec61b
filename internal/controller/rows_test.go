package controller

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// TestRows: who has judged nothing says so, and few are answered at a time.
func TestRows(t *testing.T) {
	t.Parallel()
	s := newRows()
	ask := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/findings", nil))
		return w
	}
	if w := ask(); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "does not lead") {
		t.Errorf("before the first judgement: %d %s", w.Code, w.Body)
	}
	r := &audit.Report{View: model.Seal(&model.Snapshot{}), Findings: []finding.Finding{{Code: finding.PL1001, Subject: model.Ref{Kind: model.KindAddress, Name: "10.0.0.1"}}}}
	s.take(cluster.Pass{Report: r}, nil)
	told, err := cluster.ReadRows(ask().Body)
	if err != nil || len(told.Findings) != 1 || told.Findings[0].Key() != "PL1001/10.0.0.1" {
		t.Errorf("%+v, %v", told, err)
	}
	for range answersAtOnce {
		s.turns <- struct{}{}
	}
	if w := ask(); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("one too many: %d %s", w.Code, w.Body)
	}
	<-s.turns
	if w := ask(); w.Code != http.StatusOK {
		t.Errorf("after one has ended: %d %s", w.Code, w.Body)
	}
}
