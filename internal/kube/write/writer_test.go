package write

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
)

func writerOf(t *testing.T, at string) *Writer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"current-context":"x","contexts":[{"name":"x","context":{"cluster":"x","user":"x"}}],"clusters":[{"name":"x","cluster":{"server":%q,"insecure-skip-tls-verify":true}}],"users":[{"name":"x","user":{"token":"secret"}}]}`, at)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := kube.Connect(kube.Options{Kubeconfig: file, Timeout: 1e10})
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(c, kube.AgentNamespace)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// said is one answer of an HTTP server, which is no API server: what is tested is what we
// make of an answer.
type said struct {
	code  int
	body  string
	retry string
}

func answers(t *testing.T, all ...said) (*Writer, *atomic.Int32) {
	t.Helper()
	var n atomic.Int32
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := all[min(int(n.Add(1)), len(all))-1]
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		if a.retry != "" {
			w.Header().Set("Retry-After", a.retry)
		}
		w.WriteHeader(a.code)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(srv.Close)
	return writerOf(t, srv.URL), &n
}

const (
	notFound = `{"kind":"Status","status":"Failure","reason":"NotFound","message":"pods \"db-0\" not found","details":{"name":"db-0"}}`
	overdraw = `{"kind":"Status","status":"Failure","reason":"TooManyRequests","message":"Cannot evict pod as it would violate the pod's disruption budget.","details":{"causes":[{"reason":"DisruptionBudget","message":"The disruption budget db needs 3 healthy pods and has 3 currently"}]}}`
	swapped  = `{"metadata":{"name":"10-244-8-0-26","uid":"u","resourceVersion":"7"}}`
	evicted  = `{"metadata":{"name":"db-0"},"deleteOptions":{"preconditions":{"uid":"u"}}}`
)

func TestWhatAnAnswerMeans(t *testing.T) {
	t.Parallel()
	open := errors.New("open")
	busy := said{http.StatusTooManyRequests, "later", "0"}
	away := said{http.StatusServiceUnavailable, "going down", "0"}
	for name, c := range map[string]struct {
		method, path, body string
		answers            []said
		want               error
		tries              int32
	}{
		"done":                     {"PUT", anyBlock, swapped, []said{{200, `{}`, ""}}, nil, 1},
		"conflict":                 {"PUT", anyBlock, swapped, []said{{409, `{"message":"the object has been modified"}`, ""}}, execute.ErrStale, 1},
		"gone":                     {"PUT", anyBlock, swapped, []said{{404, notFound, ""}}, execute.ErrStale, 1},
		"gone, says a proxy":       {"PUT", anyBlock, swapped, []said{{404, "404 page not found", ""}}, open, 1},
		"nowhere to make it":       {"POST", parent(anyBlock), swapped, []said{{404, "404 page not found", ""}}, execute.ErrRefused, 1},
		"made already":             {"POST", parent(anyBlock), swapped, []said{{409, "", ""}}, execute.ErrStale, 1},
		"forbidden":                {"PUT", anyBlock, swapped, []said{{403, "", ""}}, execute.ErrRefused, 1},
		"invalid":                  {"PUT", anyBlock, swapped, []said{{422, "", ""}}, execute.ErrRefused, 1},
		"bad":                      {"PUT", anyBlock, swapped, []said{{400, "", ""}}, execute.ErrRefused, 1},
		"broken":                   {"PUT", anyBlock, swapped, []said{{500, "", ""}}, open, 1},
		"a gateway's timeout":      {"PUT", anyBlock, swapped, []said{{504, "", "0"}}, open, 1},
		"away for good":            {"PUT", anyBlock, swapped, []said{{503, "", ""}}, open, 1},
		"elsewhere":                {"PUT", anyBlock, swapped, []said{{302, "", ""}}, open, 1},
		"busy, then done":          {"PUT", anyBlock, swapped, []said{busy, busy, {200, "{}", ""}}, nil, 3},
		"busy, then conflict":      {"PUT", anyBlock, swapped, []said{busy, {409, "", ""}}, execute.ErrStale, 2},
		"away, then done":          {"PUT", anyBlock, swapped, []said{away, {200, "{}", ""}}, nil, 2},
		"away, then conflict":      {"PUT", anyBlock, swapped, []said{away, {409, "", ""}}, open, 2},
		"away, busy, then refused": {"PUT", anyBlock, swapped, []said{away, busy, {422, "", ""}}, open, 3},
		"busy for ever":            {"PUT", anyBlock, swapped, []said{busy}, open, maxBusy + 1},
		"evicted":                  {"POST", anyPod + "/eviction", evicted, []said{{201, `{"kind":"Status","status":"Success"}`, ""}}, nil, 1},
		"a failure that says 201":  {"POST", anyPod + "/eviction", evicted, []said{{201, `{"kind":"Status","status":"Failure","code":500}`, ""}}, execute.ErrRefused, 1},
		"two budgets":              {"POST", anyPod + "/eviction", evicted, []said{{500, `{"kind":"Status","status":"Failure","message":"This pod has more than one PodDisruptionBudget, which …"}`, ""}}, execute.ErrRefused, 1},
		"another of that name":     {"PUT", anyBlock, swapped, []said{{422, `{"kind":"Status","details":{"causes":[{"reason":"FieldValueInvalid","field":"metadata.uid"}]}}`, ""}}, execute.ErrStale, 1},
		"over budget":              {"POST", anyPod + "/eviction", evicted, []said{{429, overdraw, "10"}}, execute.ErrRefused, 1},
		"busy, then over budget":   {"POST", anyPod + "/eviction", evicted, []said{busy, {429, overdraw, ""}}, execute.ErrRefused, 2},
		"no pod to evict":          {"POST", anyPod + "/eviction", evicted, []said{{404, notFound, ""}}, execute.ErrStale, 1},
		"no way to the pod":        {"POST", anyPod + "/eviction", evicted, []said{{404, "", ""}}, open, 1},
		"too long":                 {"PUT", anyBlock, swapped, []said{{200, strings.Repeat("x", 10<<20+1), ""}}, open, 1},
		"not on the list":          {"DELETE", "/api/v1/nodes/w1", `{}`, nil, execute.ErrRefused, 0},
		"without compare":          {"DELETE", anyBlock, `{}`, nil, execute.ErrRefused, 0},
	} {
		w, n := answers(t, c.answers...)
		_, err := w.Write(t.Context(), c.method, c.path, kube.AcceptJSON, nil, []byte(c.body))
		var got error
		switch {
		case errors.Is(err, execute.ErrStale):
			got = execute.ErrStale
		case errors.Is(err, execute.ErrRefused):
			got = execute.ErrRefused
		case err != nil:
			got = open
		}
		if !errors.Is(got, c.want) || n.Load() != c.tries {
			t.Errorf("%s: %v, after %d tries", name, err, n.Load())
		}
	}
}

func TestServersWords(t *testing.T) {
	t.Parallel()
	w, _ := answers(t, said{429, overdraw, "10"}, said{422, "Bearer secret \x1b[2J eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJr.c2ln " + strings.Repeat("no ", 9999), ""})
	_, err := w.Write(t.Context(), "POST", anyPod+"/eviction", kube.AcceptJSON, nil, []byte(evicted))
	if err == nil || !strings.Contains(err.Error(), "would violate the pod's disruption budget. The disruption budget db needs 3 healthy pods") {
		t.Errorf("%v", err)
	}
	_, err = w.Write(t.Context(), "PUT", anyBlock, kube.AcceptJSON, nil, []byte(swapped))
	if text := fmt.Sprint(err); strings.Contains(text, "Bearer") || strings.Contains(text, "eyJ") || strings.Contains(text, "\x1b") || len(text) > 2000 {
		t.Errorf("%v", err)
	}
}

// No answer, and one that is cut off, leave open what was done.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]http.HandlerFunc{
		"none": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"half": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		},
	} {
		srv := httptest.NewTLSServer(lose)
		_, err := writerOf(t, srv.URL).Write(t.Context(), "PUT", anyBlock, kube.AcceptJSON, nil, []byte(swapped))
		srv.Close()
		if err == nil || errors.Is(err, execute.ErrStale) || errors.Is(err, execute.ErrRefused) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Only the API server's own word, by name, means that something is not there.
func TestNotThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer said
		absent bool
	}{
		"its word":     {said{404, notFound, ""}, true},
		"another name": {said{404, strings.ReplaceAll(notFound, "db-0", "db-1"), ""}, false},
		"a proxy":      {said{404, "404 page not found", ""}, false},
		"no kind":      {said{404, strings.Replace(notFound, `"kind":"Status"`, `"kind":"x"`, 1), ""}, false},
		"forbidden":    {said{403, notFound, ""}, false},
	} {
		w, _ := answers(t, c.answer)
		_, there, err := w.read(t.Context(), anyPod)
		if there || (err == nil) != c.absent || errors.Is(err, kube.ErrForbidden) != (c.answer.code == 403) {
			t.Errorf("%s: %v, %v", name, there, err)
		}
	}
}

func TestProxyPost(t *testing.T) {
	t.Parallel()
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		switch {
		case r.Method != http.MethodPost || r.Header.Get("Plumbline-Token") != "tok" || string(b) != "{}":
			w.WriteHeader(http.StatusTeapot)
		case strings.HasSuffix(r.URL.Path, "/moved"):
			http.Error(w, "not as it was", http.StatusConflict)
		case strings.HasSuffix(r.URL.Path, "/echo"):
			http.Error(w, "you said "+r.Header.Get("Plumbline-Token"), http.StatusForbidden)
		default:
			_, _ = io.WriteString(w, r.URL.Path)
		}
	}))
	defer srv.Close()
	w := writerOf(t, srv.URL)
	pod := kube.AgentPod{Node: "w1", Namespace: "plumbline-system", Name: "plumbline-agent-x7k2p"}
	post := func(path string) (string, error) {
		body, err := w.ProxyPost(context.WithoutCancel(t.Context()), pod, path, http.Header{kube.AgentHeader: {"tok"}}, []byte("{}"))
		if err != nil {
			return "", err
		}
		b, err := io.ReadAll(body)
		return string(b), errors.Join(err, body.Close())
	}
	if got, err := post("v1/step"); err != nil || got != oneStep {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := post("v1/moved"); !errors.Is(err, execute.ErrStale) || !strings.Contains(err.Error(), "not as it was") {
		t.Errorf("%v", err)
	}
	if _, err := post("v1/echo"); err == nil || strings.Contains(err.Error(), "tok ") || strings.Contains(err.Error(), "said tok") {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"v1/../x", "", "V1", "v1/step?x=y"} {
		if _, err := post(bad); !errors.Is(err, execute.ErrRefused) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The API server does not read the query of a deletion that has a body: it would be carried out.
func TestDryDeletionSaysSoInItsBody(t *testing.T) {
	t.Parallel()
	var got string
	srv := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = string(b)
	}))
	defer srv.Close()
	w := writerOf(t, srv.URL)
	const body = `{"preconditions":{"uid":"u","resourceVersion":"7"}}`
	if _, err := w.Write(t.Context(), "DELETE", anyBlock, kube.AcceptJSON, dryRun(true), []byte(body)); err != nil || got != `{"dryRun":["All"],"preconditions":{"uid":"u","resourceVersion":"7"}}` {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := w.Write(t.Context(), "DELETE", anyBlock, kube.AcceptJSON, nil, []byte(body)); err != nil || got != body {
		t.Errorf("%s, %v", got, err)
	}
	for _, bad := range []string{``, `null`, `[]`} {
		if _, err := w.Write(t.Context(), "DELETE", anyBlock, kube.AcceptJSON, dryRun(true), []byte(bad)); !errors.Is(err, execute.ErrRefused) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(404, []byte(notFound))
	f.Add(429, []byte(overdraw))
	f.Fuzz(func(t *testing.T, code int, b []byte) {
		a := answer{code: code, body: b}
		for _, r := range []kube.Request{{Method: "PUT", Path: anyBlock}, {Method: "POST", Path: anyPod + "/eviction"}} {
			if err := a.verdict(r); code/100 != 2 && err == nil {
				t.Errorf("%d is a success", code)
			}
		}
	})
}
