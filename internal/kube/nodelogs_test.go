package kube

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestNodeLogRequest(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 15, 13, 0, 0, 0, time.FixedZone("", 8*3600))
	r, err := nodeLogRequest(NodeLogQuery{Node: "w1.example", Service: "kubelet", Since: since, Needles: []string{"web.x-0", "10.0.0.3", "web.x-0", ""}})
	if err != nil || r.Method != http.MethodGet || r.Path != "/api/v1/nodes/w1.example/proxy/logs/" {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := r.Query.Encode(); got != `pattern=web%5C.x-0%7C10%5C.0%5C.0%5C.3&query=kubelet&sinceTime=2026-11-15T13%3A00%3A00%2B08%3A00` {
		t.Error(got)
	}
	for _, q := range []NodeLogQuery{
		{Node: "../x", Service: "kubelet", Needles: []string{"x"}},
		{Node: "w1", Service: "/etc/shadow", Needles: []string{"x"}},
		{Node: "w1", Service: "sshd", Needles: []string{"x"}},
		{Node: "w1", Service: "kubelet"},
		{Node: "w1", Service: "kubelet", Needles: []string{strings.Repeat("x", maxPattern+1)}},
	} {
		if r, err := nodeLogRequest(q); err == nil {
			t.Errorf("%.100v: %s", q, r.Path)
		}
	}
}

// The way to a node is open for this one question, and closed for the client that reads all
// else.
func TestMayNodeLog(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/api/v1/nodes/w1/proxy/logs/":             true,
		"/api/v1/nodes/w1/proxy/logs/kubelet.log":  false,
		"/api/v1/nodes/w1/proxy/logs":              false,
		"/api/v1/nodes/w1/proxy/run/ns/p/c":        false,
		"/api/v1/nodes/w1/proxy/logs/../exec/":     false,
		"/api/v1/namespaces/a/pods/b/proxy/logs/":  false,
		"/api/v1/nodes/https:w1:10250/proxy/logs/": false,
	} {
		if mayNodeLog(http.MethodGet, path) != want {
			t.Errorf("%s: %t", path, !want)
		}
		if mayNodeLog(http.MethodPost, path) || MayRead(http.MethodGet, path) {
			t.Errorf("%s is open", path)
		}
	}
}

func TestNodeLogText(t *testing.T) {
	t.Parallel()
	line := "Nov 15 13:06:26.158011 w1 kubelet[36]: E1115 13:06:26.158011 36 x.go:1] pod=\"ns/p\" log not found for it\n"
	for _, c := range []struct {
		kind, body, want string
		err              error
	}{
		{"text/plain", line, line, nil},
		{"text/plain", "-- Logs begin at Sun. --\n" + line + "-- Boot 0a1b --\n" + line, line + line, nil},
		{"text/plain", "-- No entries --\n", "", nil},
		{"text/plain", "", "", nil},
		{"text/html; charset=utf-8", "<pre>\n<a href=\"kubelet.log\">", "", errNoLogQuery},
		{"", "<!doctype html>\n<pre>", "", errNoLogQuery},
		{"text/plain", "\noptions present and query resolved to log files for [kubelet]\ntry without specifying options\n", "", errNotInJournal},
		{"text/plain", "\nlog not found for containerd\n", "", errNotInJournal},
	} {
		got, cut, err := nodeLogText(c.kind, []byte(c.body))
		if string(got) != c.want || cut || !errors.Is(err, c.err) {
			t.Errorf("%q: %q, %t, %v", c.body, got, cut, err)
		}
	}
	if got, cut, err := nodeLogText("text/plain", []byte(line+"\nerror: journal output not available\n")); string(got) != line || !cut || err != nil {
		t.Errorf("torn: %q, %t, %v", got, cut, err)
	}
	long := strings.Repeat(line, maxNodeLog/len(line)+2)[:maxNodeLog+1]
	if got, cut, err := nodeLogText("text/plain", []byte(long)); !cut || err != nil || len(got)%len(line) != 0 || len(got) < maxNodeLog-len(line) {
		t.Errorf("%d, %t, %v", len(got), cut, err)
	}
}

func TestNodeLogError(t *testing.T) {
	t.Parallel()
	if err := nodeLogError(fmt.Errorf("%w: x", ErrForbidden)); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "nodes/proxy") {
		t.Error(err)
	}
	for _, e := range []error{fmt.Errorf("%w: x", errNotFound), errors.New("405 Method Not Allowed: logs endpoint is disabled")} {
		if err := nodeLogError(e); !errors.Is(err, errNoLogQuery) || errors.Is(err, errNotFound) {
			t.Error(err)
		}
	}
}

func FuzzNodeLogText(f *testing.F) {
	f.Add("text/plain", []byte("Nov 15 13:06:26.158011 w1 kubelet[36]: x\n-- Boot\n\x00"))
	f.Add("text/html", []byte("<"))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		if got, _, err := nodeLogText(kind, body); len(got) > len(body) || err != nil && got != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
}
