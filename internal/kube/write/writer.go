// Package write makes the changes of repairs in Kubernetes: Calico's records, the status and
// the eviction of a pod, the restart of a pod of Calico, the lease, the journal and the kill
// switch. It can send nothing else (paths.go), and nothing without a precondition (body.go).
package write

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/observe"
)

// A Writer makes the changes of repairs, by atomic updates, and can send nothing else.
type Writer struct {
	client    *kube.Client
	sender    *kube.Sender
	account   Account
	namespace string // of the agents: of the lease, the journals and the kill switch too
	allowed   allowed
}

// How often a write is retried if the API server is busy, and how long to wait at most
// between attempts.
const (
	maxBusy      = 5
	longestPause = 30 * time.Second
)

// New returns one for a cluster whose agents are in a namespace. It sends no request yet.
func New(c *kube.Client, namespace string) (*Writer, error) {
	if err := kube.CheckNames(namespace); err != nil {
		return nil, err
	}
	w := &Writer{client: c, account: ownAccount{c}, namespace: namespace, allowed: allowedIn(namespace)}
	var err error
	w.sender, err = c.Sender(w.allowed.may)
	return w, err
}

// NewAs returns one that writes as another account.
func NewAs(c *kube.Client, namespace string, a Account) (*Writer, error) {
	w, err := New(c, namespace)
	if err != nil {
		return nil, err
	}
	w.account = a
	w.sender, err = c.SenderAs(a.Token, w.allowed.may)
	return w, err
}

// Write sends one change and returns the server's answer. ErrStale and ErrRefused mean that
// nothing was written; with any other error that is unknown.
func (w *Writer) Write(ctx context.Context, method, path, contentType string, query url.Values, body []byte) ([]byte, error) {
	r := kube.Request{Method: method, Path: path, Query: query, Accept: kube.AcceptJSON, Body: body, Header: http.Header{"Content-Type": {contentType}}}
	ctx, cancel := context.WithTimeout(ctx, w.client.Timeout)
	defer cancel()
	a, err := w.write(ctx, r)
	return a.body, err
}

func (w *Writer) write(ctx context.Context, r kube.Request) (answer, error) {
	if r.Method == http.MethodGet || !w.allowed.may(r.Method, r.Path) {
		return answer{}, fmt.Errorf("%s %.200s: %w: no repair needs this request", r.Method, r.Path, execute.ErrRefused)
	}
	err := dryBody(&r)
	if err == nil {
		err = w.allowed.sound(r)
	}
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w: %w", kube.Verb(r.Method), r.Path, execute.ErrRefused, err)
	}
	a, err := w.do(ctx, r)
	if err == nil {
		err = a.verdict(r)
	}
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", kube.Verb(r.Method), r.Path, err)
	}
	return a, nil
}

// do sends a request and retries if a busy server asks for it.
func (w *Writer) do(ctx context.Context, r kube.Request) (answer, error) {
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
	ctx, cancel := context.WithTimeout(ctx, w.client.Timeout)
	defer cancel()
	a, err = w.do(ctx, kube.Request{Method: http.MethodGet, Path: path, Accept: kube.AcceptJSON})
	switch {
	case err != nil:
	case a.code == http.StatusOK:
		return a, true, nil
	case a.absent(path):
		return a, false, nil
	case a.code == http.StatusForbidden || a.code == http.StatusUnauthorized:
		err = fmt.Errorf("%w: %s", kube.ErrForbidden, words(a.body))
	default:
		err = fmt.Errorf("%d: %s", a.code, words(a.body))
	}
	return answer{}, false, fmt.Errorf("read %s: %w", path, err)
}

// pause waits as a busy server asks, within limits.
func pause(ctx context.Context, after string) error {
	d := time.Second
	if n, err := strconv.Atoi(after); err == nil && n >= 0 {
		d = min(time.Duration(n)*time.Second, longestPause)
	}
	return observe.Wait(ctx, d)
}

// monotonic is for durations only, never for ages.
func monotonic() time.Time {
	return time.Now() //nolint:forbidigo // only used for durations
}
