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
const (
	proxyHealth = "http://127.0.0.1:10256"
	proxyWithin = 2 * time.Second
)

// readProxy reads the state of kube-proxy.
func (h *Host) readProxy(ctx context.Context, f *model.NodeState) error {
	process, err := h.findProxy(ctx)
	if err != nil {
		return err
	}
	f.Proxies = []model.Proxy{{State: h.proxyState(ctx, process)}}
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

// proxyState is the state of kube-proxy. process is that of its process in /proc, 0 without one: k3s
// has it in its own.
func (h *Host) proxyState(ctx context.Context, process byte) string {
	if process == 'T' || process == 't' {
		return "stopped"
	}
	ctx, cancel := context.WithTimeout(ctx, proxyWithin)
	defer cancel()
	for _, path := range []string{"/livez", "/healthz"} {
		status, err := statusOf(ctx, h.o.ProxyHealth+path)
		var refused *net.OpError
		switch {
		case err == nil && status == http.StatusNotFound:
			continue
		case err == nil && status/100 == 2:
			return "ready"
		case err == nil:
			return "not ready"
		case ctx.Err() != nil:
			return "no answer"
		case errors.As(err, &refused) && refused.Op == "dial" && process == 0:
			return "not running"
		}
		break
	}
	return "runs" // and reports its health elsewhere
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
