package host

import (
	"context"
	"net"
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
	status, err := statusOf(ctx, h.readinessURL(it))
	switch {
	case err == nil && status/100 == 2: // 204 if it has no content
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
