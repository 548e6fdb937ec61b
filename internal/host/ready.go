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

// felixReady asks Felix itself. Without an answer it is not ready, if it runs at all.
func (h *Host) felixReady(ctx context.Context, it *felix) string {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.readinessURL(it), http.NoBody)
	if err != nil {
		return ""
	}
	t := &http.Transport{DisableKeepAlives: true} // no proxy: it is on this node
	defer t.CloseIdleConnections()
	resp, err := t.RoundTrip(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	switch {
	case err == nil && resp.StatusCode/100 == 2: // 204 if it has no content
		return "ready"
	case err == nil || it != nil:
		return "not ready"
	default:
		return ""
	}
}

// readinessURL is Felix' configured readiness address, unless Options has another.
func (h *Host) readinessURL(it *felix) string {
	if it == nil || h.o.Readiness != readiness || it.set[healthPort] == "" {
		return h.o.Readiness
	}
	u, err := url.Parse(readiness)
	if err != nil {
		return readiness
	}
	u.Host = net.JoinHostPort("127.0.0.1", it.set[healthPort])
	return u.String()
}
