package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/observe"
)

// silentFor is how long a leader may judge nothing before it is restarted. Agents are asked every 20
// seconds, and each answer is judged.
const silentFor = 10 * time.Minute

// health is what the kubelet's probes ask.
type health struct {
	mu    sync.Mutex
	leads bool
	since time.Duration // observe.Uptime of the election, or of the last judgement
	ready bool          // there was a judgement since the election
	good  time.Duration // observe.Uptime of the last write, or of when there was nothing to write
	known bool          // who leads
}

func (h *health) elected(self bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := observe.Uptime()
	h.known, h.leads, h.ready, h.since, h.good = true, self, false, now, now
}

func (h *health) wrote() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.good = observe.Uptime()
}

// judged: the whole cluster was.
func (h *health) judged() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ready, h.since = true, observe.Uptime()
}

// alive: a leader judges again and again.
func (h *health) alive() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if silent := observe.Uptime() - h.since; h.leads && silent > silentFor {
		return fmt.Errorf("no judgement for %s", silent.Round(time.Second))
	}
	return nil
}

// isReady: the leader has judged; another knows who leads, so it could take over.
func (h *health) isReady() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !h.known:
		return errors.New("the leader is not known yet")
	case h.leads && !h.ready:
		return errors.New("the cluster was not judged yet")
	case h.leads && observe.Uptime()-h.good > silentFor/2:
		return errors.New("findings cannot be written")
	}
	return nil
}

// serve answers probes and serves metrics until ctx ends.
func (h *health) serve(ctx context.Context, listen string, metrics http.Handler, log *slog.Logger) error {
	if listen == "" {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	for path, ask := range map[string]func() error{"/healthz": h.alive, "/readyz": h.isReady} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			if err := ask(); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			_, _ = fmt.Fprintln(w, "ok")
		})
	}
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 15 * time.Second, MaxHeaderBytes: 8 << 10}
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("probes", "error", err)
		}
	}()
	context.AfterFunc(ctx, func() { _ = s.Close() })
	return nil
}
