package controller

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"plumbline.dev/plumbline/internal/agent/door"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// Rights are asked for once a minute and caller, and not at all for stylesheets; where one cannot be asked for nothing is
// shown, and before the first judgement another replica is to be asked.
func TestPages(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	var fail atomic.Bool
	p := newPages(func(_ context.Context, owner any, ns string) (bool, error) {
		asked.Add(1)
		if fail.Load() {
			return false, errors.New("no answer")
		}
		return owner == "all" || owner == "some" && ns == "kube-system", nil
	})
	ask := func(owner, path string) (int, string) {
		t.Helper()
		w := httptest.NewRecorder()
		var key [32]byte
		copy(key[:], owner)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		if owner != "" {
			r = door.WithCaller(r, door.Caller{Owner: owner, Key: key})
		}
		p.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	if code, _ := ask("all", "/"); code != http.StatusServiceUnavailable {
		t.Errorf("before the first judgement: %d", code)
	}
	text, err := os.ReadFile("../detect/testdata/PL2001.txtar")
	if err != nil {
		t.Fatal(err)
	}
	c, err := snapshotio.ParseText(text, "findings", "skipped")
	if err != nil {
		t.Fatal(err)
	}
	p.state.Put(audit.Judge(t.Context(), c.Snapshot, audit.Source{}, audit.Options{Detectors: detect.All}))
	if code, _ := ask("", "/"); code != http.StatusForbidden {
		t.Errorf("nobody admitted it: %d", code)
	}
	if code, _ := ask("all", "/static/style.css"); code != http.StatusOK || asked.Load() != 0 {
		t.Errorf("a stylesheet: %d, %d questions", code, asked.Load())
	}
	fail.Store(true)
	if code, body := ask("all", "/findings"); code != http.StatusServiceUnavailable || strings.Contains(body, "shop/") {
		t.Errorf("rights are not known: %d %s", code, body)
	}
	fail.Store(false)
	asked.Store(0)
	for range 3 {
		if code, body := ask("all", "/findings"); code != http.StatusOK || !strings.Contains(body, "PL2001/shop/web") || asked.Load() != 1 {
			t.Errorf("who may list all: %d, %d questions\n%s", code, asked.Load(), body)
		}
	}
	for range 3 {
		if code, body := ask("some", "/findings"); code != http.StatusOK || strings.Contains(body, "shop/") || !strings.Contains(body, "not shown: about pods that you may not list") {
			t.Errorf("who may list some: %d\n%s", code, body)
		}
	}
	if n := asked.Load(); n > 10 {
		t.Errorf("%d questions", n)
	}
}
