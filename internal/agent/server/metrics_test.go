package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/host"
	"plumbline.dev/plumbline/internal/observe"
)

// Metrics have what the guard daemon reported, no text of its file, and say when it cannot be read.
func TestMetrics(t *testing.T) {
	t.Parallel()
	put := func(text string) func(string) {
		return func(file string) { must(t, os.WriteFile(file, []byte(text), 0o600)) }
	}
	for name, c := range map[string]struct {
		write    func(string)
		has, not []string
	}{
		"a report": {
			put(`{"schema":2,"node":"n1","mode":"enforce","wanted":"enforce","late":3,"stopped":2,"queue":1,"adds":{"count":10,"failed":4,"p99":1500},"dels":{}}`),
			[]string{
				`plumbline_guard_mode{mode="enforce",wanted="enforce"} 1`, `plumbline_guard_late_dels_total{result="stopped"} 2`, `plumbline_guard_late_dels_total{result="passed"} 1`,
				`plumbline_guard_calls_total{result="ok",verb="ADD"} 6`, `plumbline_guard_calls_total{result="error",verb="ADD"} 4`, `plumbline_guard_call_seconds{quantile="0.99",verb="ADD"} 1.5`,
				`plumbline_guard_queued_dels 1`, `plumbline_guard_report_unread 0`, "# TYPE plumbline_guard_calls_total counter", "plumbline_agent_watchers 0",
			},
			nil,
		},
		"not installed":    {nil, []string{`plumbline_guard_report_unread 0`}, []string{"guard_mode"}},
		"not in force":     {put(`{"schema":2,"wanted":"observe"}`), []string{`plumbline_guard_mode{mode="none",wanted="observe"} 1`, `plumbline_guard_unprotected 0`}, nil},
		"to enforce":       {put(`{"schema":2,"wanted":"enforce","lost":2}`), []string{`plumbline_guard_unprotected 1`, `plumbline_guard_harmed_pods_total 2`}, nil},
		"not certain":      {put(`{"schema":2,"wanted":"enforce","mode":"enforce","doubt":"sEcReT"}`), []string{`plumbline_guard_unprotected 1`}, []string{"sEcReT"}},
		"no report":        {put("sEcReT"), []string{`plumbline_guard_report_unread 1`}, []string{"guard_mode", "sEcReT"}},
		"of another's pen": {put(`{"schema":2,"mode":"sEcReT","wanted":"off"}`), []string{`plumbline_guard_mode{mode="unknown",wanted="off"} 1`}, []string{"sEcReT"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := scrape(t, guarded(t, c.write))
			for _, line := range c.has {
				if !strings.Contains(page, line+"\n") {
					t.Errorf("no %s in\n%s", line, page)
				}
			}
			for _, word := range c.not {
				if strings.Contains(page, word) {
					t.Errorf("%s in\n%s", word, page)
				}
			}
		})
	}
}

// Who waits for Calico's IPAM lock is told, and nothing where that is not known.
func TestMetricsOfTheLock(t *testing.T) {
	t.Parallel()
	s := guarded(t, nil)
	s.lock = func() (host.IPAMLock, error) { return host.IPAMLock{Waiting: 2, Oldest: 3 * time.Second}, nil }
	for _, line := range []string{"plumbline_agent_ipam_lock_waiting 2\n", "plumbline_agent_ipam_lock_oldest_seconds 3\n"} {
		if page := scrape(t, s); !strings.Contains(page, line) {
			t.Errorf("no %s in\n%s", line, page)
		}
	}
	s.lock = func() (host.IPAMLock, error) { return host.IPAMLock{}, observe.ErrNotThere }
	if page := scrape(t, s); strings.Contains(page, "ipam_lock") {
		t.Errorf("no lock, and\n%s", page)
	}
}

// scrape asks as Prometheus does.
func scrape(t *testing.T, s *Server) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	must(t, err)
	done := make(chan error)
	go func() { done <- s.ListenMetrics(ctx, l) }()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String()+"/metrics", nil)
	must(t, err)
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	page, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	must(t, err)
	cancel()
	must(t, <-done)
	return string(page)
}
