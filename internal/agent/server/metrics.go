package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"plumbline.dev/plumbline/internal/agent/door"
	"plumbline.dev/plumbline/internal/buildinfo"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/metrics"
)

// The metrics of a node. The guard daemon has no port of its own: the agent tells what its report has.
var (
	agentBuild    = metrics.NewGauge("agent_build_info", "The version of the agent that runs.", "version")
	agentTables   = metrics.NewGauge("agent_tables", "Tables of the node: read or unread.", "state")
	agentWatchers = metrics.NewGauge("agent_watchers", "Who watches the node's tables.")
	lockWaiting   = metrics.NewGauge("agent_ipam_lock_waiting", "CNI calls of the node that wait for Calico's IPAM lock, one of which assigns addresses at a time. Absent where it is not known.")
	lockOldest    = metrics.NewGauge("agent_ipam_lock_oldest_seconds", "How long the one of them that began first has been running; 0: none waits.")
	guardUnread   = metrics.NewGauge("guard_report_unread", "1 if the guard daemon's report cannot be read: nothing is known of the guard.")
	guardMode     = metrics.NewGauge("guard_mode", "1 for the guard's mode in force (none: it is not in force) and the one that is wanted.", "mode", "wanted")
	guardDoubt    = metrics.NewGauge("guard_unprotected", "1 if the guard is configured to enforce, and it is not certain that it protects the node.")
	guardReported = metrics.NewGauge("guard_report_timestamp_seconds", "When the guard daemon last wrote its report.")
	guardCalls    = metrics.NewCounter("guard_calls_total", "CNI calls through the guard since the node booted.", "verb", "result")
	guardSeconds  = metrics.NewGauge("guard_call_seconds", "How long CNI calls take, the delegate included.", "verb", "quantile")
	guardLate     = metrics.NewCounter("guard_late_dels_total", "Late DELs since the node booted: stopped, or passed on.", "result")
	guardHarmed   = metrics.NewCounter("guard_harmed_pods_total", "DELs of older sandboxes since the node booted by which a newer pod lost network state.")
	guardErrors   = metrics.NewCounter("guard_errors_total", "Calls in which the guard itself had an error, and passed the call on.")
	guardQueued   = metrics.NewGauge("guard_queued_dels", "DELs that wait until they can be carried out.")
)

// ListenMetrics serves numbers to Prometheus until ctx ends, to everybody who reaches it: they name no pod and no address.
func (s *Server) ListenMetrics(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics.Handler(func() []metrics.Number { return s.numbers(ctx) }))
	srv := s.http(mux)
	return serve(ctx, srv, func() error { return srv.Serve(door.Listener(l)) })
}

func (s *Server) numbers(ctx context.Context) []metrics.Number {
	read, unread := 0.0, 0.0
	for _, c := range s.store.snapshot(s.now()).Coverage {
		if c.State.Seen() {
			read++
		} else {
			unread++
		}
	}
	out := []metrics.Number{
		agentBuild.Is(1, buildinfo.Read().Version), agentTables.Is(read, "read"), agentTables.Is(unread, "unread"), agentWatchers.Is(float64(len(s.watchers))),
	}
	if s.lock != nil {
		if l, err := take(ctx, s.lockTurn, guardWithin, s.lock); err == nil {
			out = append(out, lockWaiting.Is(float64(l.Waiting)), lockOldest.Is(l.Oldest.Seconds()))
		}
	}
	report, err := take(ctx, s.guard, guardWithin, func() (*guard.Report, error) { return readReport(s.root) })
	if err != nil {
		return append(out, guardUnread.Is(1))
	}
	out = append(out, guardUnread.Is(0))
	if report == nil { // the guard was never installed, or the node has rebooted since
		return out
	}
	return append(out, guardNumbers(report)...)
}

func guardNumbers(r *guard.Report) []metrics.Number {
	mode, unprotected := r.Mode, 0.0
	if mode == "" {
		mode = "none"
	}
	if r.Unprotected() != "" {
		unprotected = 1
	}
	out := []metrics.Number{
		guardMode.Is(1, known(mode), known(r.Wanted)), guardDoubt.Is(unprotected), guardHarmed.Is(float64(r.Lost)), guardReported.At(r.At), guardQueued.Is(float64(r.Queue)), guardErrors.Is(float64(r.Open)),
		guardLate.Is(float64(r.Stopped), "stopped"), guardLate.Is(float64(r.Late-r.Stopped), "passed"),
	}
	for verb, t := range map[string]guard.Times{"ADD": r.Adds, "DEL": r.Dels} {
		out = append(out,
			guardCalls.Is(float64(t.Count-t.Failed), verb, "ok"), guardCalls.Is(float64(t.Failed), verb, "error"),
			guardSeconds.Is((time.Duration(t.P50)*time.Millisecond).Seconds(), verb, "0.5"), guardSeconds.Is((time.Duration(t.P99)*time.Millisecond).Seconds(), verb, "0.99"))
	}
	return out
}

// known is a mode that there is: the report is a file of the node, and no text of it becomes a label.
func known(m guard.Mode) string {
	switch m {
	case guard.Off, guard.Observe, guard.Enforce, "none":
		return string(m)
	}
	return "unknown"
}

// listenTo opens an address; nil if there is none.
func listenTo(ctx context.Context, address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--metrics=%s: %w", address, err)
	}
	return l, nil
}
