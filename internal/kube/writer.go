package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"plumbline.dev/plumbline/internal/execute"
)

// A Writer makes the changes of repairs, by atomic updates, and can send nothing else.
type Writer struct {
	c    *Client
	http *http.Client
}

// Writer returns one for this cluster. It sends no request yet.
func (c *Client) Writer() (*Writer, error) {
	if c.repair == nil {
		return nil, errors.New("this client only reads")
	}
	hc, err := c.repair()
	if err != nil {
		return nil, err
	}
	return &Writer{c: c, http: hc}, nil
}

// Write sends one change and returns the server's answer. ErrStale and ErrRefused mean that
// nothing was written; with any other error that is unknown.
func (w *Writer) Write(ctx context.Context, method, path, contentType string, query url.Values, body []byte) ([]byte, error) {
	r := request{method: method, path: path, query: query, accept: acceptJSON, body: body, header: http.Header{"Content-Type": {contentType}}}
	ctx, cancel := context.WithTimeout(ctx, w.c.Timeout)
	defer cancel()
	a, err := w.write(ctx, r)
	return a.body, err
}

func (w *Writer) write(ctx context.Context, r request) (answer, error) {
	if r.method == http.MethodGet || !mayRepair(r.method, r.path) {
		return answer{}, fmt.Errorf("%s %.200s: %w: no repair needs this request", r.method, r.path, execute.ErrRefused)
	}
	err := dryBody(&r)
	if err == nil {
		err = sound(r)
	}
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w: %w", verb(r.method), r.path, execute.ErrRefused, err)
	}
	a, err := w.do(ctx, r)
	if err == nil {
		err = a.verdict(r)
	}
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", verb(r.method), r.path, err)
	}
	return a, nil
}

// do sends a request and retries if a busy server asks for it.
func (w *Writer) do(ctx context.Context, r request) (answer, error) {
	doubt := false
	for try := 0; ; try++ {
		a, err := w.once(ctx, r)
		if err != nil {
			return a, err
		}
		a.doubt = doubt
		if try == maxBusy || !a.busy(r) {
			return a, nil
		}
		// A server that is too busy has not begun. One that is unavailable may have: a
		// second attempt may then conflict with our own first.
		doubt = doubt || a.code != http.StatusTooManyRequests
		if err := pause(ctx, a.retry); err != nil {
			return a, err
		}
	}
}

// read reads one object live. It is missing only if the API server itself reports so, by
// its name: a misrouted proxy answers 404 too.
func (w *Writer) read(ctx context.Context, path string) (a answer, there bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.c.Timeout)
	defer cancel()
	a, err = w.do(ctx, request{method: http.MethodGet, path: path, accept: acceptJSON})
	switch {
	case err != nil:
	case a.code == http.StatusOK:
		return a, true, nil
	case a.absent(path):
		return a, false, nil
	case a.code == http.StatusForbidden || a.code == http.StatusUnauthorized:
		err = fmt.Errorf("%w: %s", ErrForbidden, words(a.body))
	default:
		err = fmt.Errorf("%d: %s", a.code, words(a.body))
	}
	return answer{}, false, fmt.Errorf("read %s: %w", path, err)
}

// monotonic is for durations only, never for ages.
func monotonic() time.Time {
	return time.Now() //nolint:forbidigo // only used for durations
}
