package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// guarded is an agent whose node has a file where the guard daemon writes.
func guarded(t *testing.T, write func(file string)) *Server {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, guard.Dir)
	must(t, os.MkdirAll(dir, 0o700))
	if write != nil {
		write(filepath.Join(dir, guard.StatusFile))
	}
	return New(Config{Node: "n1", Log: slog.New(slog.DiscardHandler), Now: now, Record: filepath.Join(root, "events"), Logs: Logs{Root: root}})
}

func (s *Server) answers(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/"+path, nil))
	return w
}

// Only what a report has leaves the node, and what is no report does not leave it at all.
func TestGuardIsHandedOut(t *testing.T) {
	t.Parallel()
	put := func(text string) func(string) {
		return func(file string) { must(t, os.WriteFile(file, []byte(text), 0o600)) }
	}
	for name, c := range map[string]struct {
		write func(string)
		code  int
		says  string
	}{
		"a report":      {put(`{"schema":2,"node":"n1","mode":"enforce","wanted":"enforce","late":3,"token":"sEcReT"}`), 200, `"mode":"enforce"`},
		"none":          {nil, 200, `"node":"n1"`},
		"no report":     {put("sEcReT"), 503, "not a valid report"},
		"too long":      {put(`{"why":"` + strings.Repeat("x", maxReport) + `"}`), 503, "longer"},
		"an older one":  {put(`{"node":"n1","mode":"off","endless":[]}`), 503, "another version than the agent"},
		"a link":        {func(file string) { must(t, os.Symlink("/etc/passwd", file)) }, 503, "guard's report"},
		"a directory":   {func(file string) { must(t, os.Mkdir(file, 0o700)) }, 503, "no ordinary file"},
		"a pipe":        {func(file string) { must(t, unix.Mkfifo(file, 0o600)) }, 503, "no ordinary file"},
		"of half a MiB": {put(`{"schema":2,"node":"n1","mode":"off","why":"` + strings.Repeat("x", maxReport/2) + `"}`), 200, `"mode":"off"`},
	} {
		w := guarded(t, c.write).answers(t, agent.PathGuard)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.says) || strings.Contains(w.Body.String(), "sEcReT") || strings.Contains(w.Body.String(), "root:") {
			t.Errorf("%s: %d %.200s", name, w.Code, w.Body)
		}
		var g agent.GuardStatus
		if w.Code == 200 && (json.Unmarshal(w.Body.Bytes(), &g) != nil || (g.Report == nil) != (c.write == nil)) {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// A disk that hangs costs one thread, and nobody's patience.
func TestHungReadComesBack(t *testing.T) {
	t.Parallel()
	one, free, began := newTurn(), make(chan struct{}), make(chan struct{}, 8)
	hang := func() (int, error) {
		began <- struct{}{}
		<-free
		return 1, nil
	}
	for range 3 {
		if _, err := take(t.Context(), one, 30*time.Millisecond, hang); !errors.Is(err, errHangs) {
			t.Errorf("it came back with %v", err)
		}
	}
	if n := len(began); n != 1 {
		t.Errorf("%d reads hang", n)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := take(gone, one, time.Minute, hang); !errors.Is(err, errHangs) {
		t.Errorf("whoever asked is gone: %v", err)
	}
	close(free)
	if n, err := take(t.Context(), one, 5*time.Second, func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("after it: %d, %v", n, err)
	}
}

// A log that is not made yet has no event: that is no failure of the agent.
func TestNoEventsYet(t *testing.T) {
	t.Parallel()
	if out, err := newest(filepath.Join(t.TempDir(), "events"), func(*eventlog.Entry) bool { return true }); out != nil || err != nil {
		t.Errorf("%v, %v", out, err)
	}
}

// The record is narrowed where it lies, and an answer is no longer than who asks reads.
func TestEventsAreNarrowed(t *testing.T) {
	t.Parallel()
	s := guarded(t, nil)
	r, err := eventlog.Open(s.record)
	must(t, err)
	at := time.Unix(1_800_000_000, 0).UTC()
	long := json.RawMessage(`"` + strings.Repeat("x", 60_000) + `"`)
	for i := range 100 {
		must(t, r.Append(
			eventlog.Entry{At: at.Add(time.Duration(i) * time.Second), By: "guard", Of: "cni", What: "DEL", Name: "shop/db-0"},
			eventlog.Entry{At: at.Add(time.Duration(i) * time.Second), By: "agent", Of: "links", What: "new", Name: "cali1", Now: long},
		))
	}
	must(t, r.Close())
	count := func(query string) (out []eventlog.Entry) {
		w := s.answers(t, agent.PathEvents+query)
		if w.Body.Len() > maxEvents+1<<20 {
			t.Errorf("%s: %d bytes", query, w.Body.Len())
		}
		must(t, json.Unmarshal(w.Body.Bytes(), &out))
		return out
	}
	if n := len(count("?by=guard")); n != 100 {
		t.Errorf("the guard's: %d", n)
	}
	if got := count("?by=guard&about=shop/db-0&since=" + at.Add(97*time.Second).Format(time.RFC3339Nano)); len(got) != 2 {
		t.Errorf("since then: %v", got)
	}
	got := count("")
	if n := len(got); n >= 200 || n < 90 || !got[n-1].At.Equal(at.Add(99*time.Second)) {
		t.Errorf("all: %d", n)
	}
	if w := s.answers(t, agent.PathEvents+"?since=x"); w.Code != http.StatusBadRequest {
		t.Errorf("a moment that is none: %d", w.Code)
	}
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"node":"n1","mode":"enforce","endless":[{"count":3}],"dels":{"p50":1}}`))
	f.Add([]byte(`{"at":"x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseReport(b)
		if (r == nil) == (err == nil) {
			t.Fatalf("%v, %v", r, err)
		}
		if err != nil && len(b) > 20 && bytes.Contains([]byte(err.Error()), b) {
			t.Error("what is no report leaves in an error")
		}
	})
}

// A node that booted without its guard daemon is not protected, although there is no report.
func TestGuardTableAfterABoot(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]int{"enforce\n": 1, "observe\n": 0, "off\n": 0} {
		root := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(root, filepath.Dir(guard.LastModeFile)), 0o755))
		must(t, os.WriteFile(filepath.Join(root, guard.LastModeFile), []byte(mode), 0o600))
		var f model.NodeState
		err := guardCollector(root, time.Now).Read(t.Context(), &f) //nolint:forbidigo // of a report, and there is none
		if len(f.Guards) != want || (err == nil) != (want == 1) || want == 1 && f.Guards[0].Unprotected == "" {
			t.Errorf("%s: %+v, %v", mode, f.Guards, err)
		}
	}
}

// The table Guards has one row of known words, no row where no guard was ever installed, and is
// not read where the report is not one.
func TestGuardTable(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		text string
		want model.Guard
		err  error
	}{
		"protects":     {`{"schema":2,"wanted":"enforce","mode":"enforce","version":"v3.33.0","at":"2026-05-01T11:59:00Z"}`, model.Guard{Wanted: "enforce", Mode: "enforce", Version: "v3.33.0"}, nil},
		"not certain":  {`{"schema":2,"wanted":"enforce","mode":"enforce","version":"odd \u001b","doubt":"no version","at":"2026-05-01T11:59:00Z"}`, model.Guard{Wanted: "enforce", Mode: "enforce", Unprotected: "no version"}, nil},
		"not in force": {`{"schema":2,"wanted":"enforce","why":"` + strings.Repeat("x", 2*maxGuardWhy) + `","at":"2026-05-01T11:59:00Z"}`, model.Guard{Wanted: "enforce", Unprotected: cut(strings.Repeat("x", 2*maxGuardWhy), maxGuardWhy)}, nil},
		"silent":       {`{"schema":2,"wanted":"enforce","mode":"enforce","at":"2026-05-01T11:50:00Z"}`, model.Guard{Wanted: "enforce", Mode: "enforce", Silent: true}, nil},
		"of tomorrow":  {`{"schema":2,"wanted":"off","at":"2026-05-02T11:50:00Z"}`, model.Guard{Wanted: "off", Silent: true}, nil},
		"strange":      {`{"schema":2,"wanted":"sEcReT","mode":"sEcReT","at":"2026-05-01T11:59:00Z"}`, model.Guard{Wanted: "unknown", Mode: "unknown"}, nil},
		"none":         {"", model.Guard{}, observe.ErrNotThere},
		"no report":    {"{", model.Guard{}, errAny},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			must(t, os.MkdirAll(filepath.Join(root, guard.Dir), 0o700))
			if c.text != "" {
				must(t, os.WriteFile(filepath.Join(root, guard.Dir, guard.StatusFile), []byte(c.text), 0o600))
			}
			var f model.NodeState
			err := guardCollector(root, func() time.Time { return at }).Read(t.Context(), &f)
			switch {
			case errors.Is(c.err, errAny) && err != nil, c.err != nil && errors.Is(err, c.err):
				if len(f.Guards) != 0 {
					t.Errorf("%+v", f.Guards)
				}
			case err != nil || c.err != nil || len(f.Guards) != 1 || !reflect.DeepEqual(f.Guards[0], c.want):
				t.Errorf("%v: %+v, not %+v", err, f.Guards, c.want)
			}
		})
	}
}

var errAny = errors.New("any error")
