package host

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// Where kube-proxy reports its health unless it is configured otherwise. Its /healthz also fails on
// a node that is about to be removed, on purpose; releases before 1.28 have no /livez.
var proxyHealth = []string{"http://127.0.0.1:10256", "http://[::1]:10256"}

const proxyWithin = 2 * time.Second

// readProxy reads the state of kube-proxy.
func (h *Host) readProxy(ctx context.Context, f *model.NodeState) error {
	process, err := h.findProxy(ctx)
	if err != nil {
		return err
	}
	state, err := h.proxyState(ctx, process)
	if err != nil {
		return err
	}
	f.Proxies = []model.Proxy{{State: state, Process: process != 0}}
	return nil
}

// findProxy returns the state of kube-proxy's process, 0 if there is none in the host's network
// namespace.
func (h *Host) findProxy(ctx context.Context) (state byte, err error) {
	if err := h.procs.take(ctx); err != nil {
		return 0, err
	}
	defer h.procs.leave()
	err = h.walk(ctx, few, func(p *process) {
		if p.Name != "kube-proxy" || p.State == 'Z' {
			return
		}
		if same, err := h.shares(h.dir(p), "net"); err == nil && same {
			state = p.State
		}
	})
	return state, err
}

// proxyState is the state of kube-proxy. process is that of its process in /proc, 0 without one.
func (h *Host) proxyState(ctx context.Context, process byte) (string, error) {
	if process == 'T' || process == 't' {
		return "stopped", nil
	}
	within, cancel := context.WithTimeout(ctx, proxyWithin)
	defer cancel()
	refused := 0
	for _, base := range h.o.ProxyHealth {
		status, err := statusOf(within, base+"/livez")
		if err == nil && status == http.StatusNotFound {
			status, err = statusOf(within, base+"/healthz")
		}
		var op *net.OpError
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err == nil && status/100 == 2:
			return "ready", nil
		case err == nil && status == http.StatusNotFound: // somebody else's
		case err == nil:
			return "not ready", nil
		case within.Err() != nil:
			return "no answer", nil
		case errors.As(err, &op) && op.Op == "dial":
			refused++
		}
	}
	switch {
	case process != 0:
		return "runs", nil // and reports its health elsewhere
	case refused == len(h.o.ProxyHealth):
		return "not running", nil
	default:
		return "unknown", nil
	}
}

// statusOf is the status with which a server of this node answers.
func statusOf(ctx context.Context, address string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, err
	}
	t := &http.Transport{DisableKeepAlives: true} // no proxy: it is on this node
	defer t.CloseIdleConnections()
	resp, err := t.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
