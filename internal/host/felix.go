package host

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	readiness   = "http://127.0.0.1:9099/readiness"
	readyWithin = 500 * time.Millisecond
)

// findFelix looks for the process; nil if there is none.
func (h *Host) findFelix(ctx context.Context) (*identity, error) {
	if err := h.procs.take(ctx); err != nil {
		return nil, err
	}
	defer h.procs.leave()
	var out *identity
	err := h.walk(ctx, every, func(p *process) {
		switch p.name {
		case "calico-felix", "calico-node", "calico":
			if i, err := h.identify(ctx, p); err == nil && i.felix && p.state != 'Z' {
				out = &i
			}
		}
	})
	return out, err
}

// felixReady asks Felix itself. Without an answer it is not ready, if it is there at all.
func (h *Host) felixReady(ctx context.Context, felix *identity) string {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.readinessURL(felix), http.NoBody)
	if err != nil {
		return ""
	}
	t := &http.Transport{DisableKeepAlives: true} // no proxy: it is this machine
	defer t.CloseIdleConnections()
	resp, err := t.RoundTrip(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	switch {
	case err == nil && resp.StatusCode/100 == 2: // 204, if it has nothing to add
		return "ready"
	case err == nil || felix != nil:
		return "not ready"
	default:
		return ""
	}
}

// readinessURL is where Felix was told to answer, unless we were told better.
func (h *Host) readinessURL(felix *identity) string {
	if felix == nil || h.o.Readiness != readiness || felix.set["FELIX_HEALTHPORT"] == "" {
		return h.o.Readiness
	}
	u, err := url.Parse(readiness)
	if err != nil {
		return readiness
	}
	u.Host = net.JoinHostPort("127.0.0.1", felix.set["FELIX_HEALTHPORT"])
	return u.String()
}
