package controller

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
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

// Who may not list all pods does not keep others waiting; and an answer that nobody waited for is used.
func TestCallersDoNotWaitForOthers(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	slow := make(chan struct{})
	c := newCallers(func(_ context.Context, owner any, ns string) (bool, error) {
		asked.Add(1)
		if owner == "slow" && ns != "" {
			<-slow
		}
		return owner == "all", nil
	}, func() []string { return []string{"a", "b"} })
	gone, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := c.rightsOf(gone, door.Caller{Owner: "slow", Key: [32]byte{1}})
		left <- err
	}()
	for asked.Load() < 3 {
		runtime.Gosched()
	}
	for i, owner := range []string{"all", "some"} {
		if have, err := c.rightsOf(t.Context(), door.Caller{Owner: owner, Key: [32]byte{2 + byte(i)}}); err != nil || have.all != (owner == "all") {
			t.Errorf("%s: %+v %v", owner, have, err)
		}
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	before := asked.Load()
	close(slow)
	if have, err := c.rightsOf(t.Context(), door.Caller{Owner: "slow", Key: [32]byte{1}}); err != nil || len(have.in) != 2 || asked.Load() != before {
		t.Errorf("after all: %+v %v, %d questions more", have, err, asked.Load()-before)
	}
}

// Where too many pages are asked for at a time, the others are told so.
func TestPageTurns(t *testing.T) {
	t.Parallel()
	p := newPages(nil)
	for range pagesAtOnce {
		if !p.turn(t.Context()) {
			t.Fatal("no turn")
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if p.turn(gone) {
		t.Error("one turn too many")
	}
	<-p.turns
	if !p.turn(t.Context()) {
		t.Error("no turn after another ended")
	}
}
