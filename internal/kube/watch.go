package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/observe"
)

// Bounds of one connection of a watch. The server sends a bookmark about once a minute: a
// longer silence means that the connection is dead.
const (
	answerWithin = 30 * time.Second
	maxSilence   = 3 * time.Minute
	watchFor     = 9 * time.Minute // then the server ends it, and it is resumed
)

// Watch reports the changes of a collection after a revision (none: its current items
// first), one event after the other, until ctx ends, the changes are no longer available
// (observe.ErrGone), or the server does not answer. A broken connection is resumed.
func (c *Client) Watch(ctx context.Context, path string, query url.Values, since string, each observe.Heard) error {
	return c.watch(ctx, watch{path: path, query: query, wire: jsonWire, last: since, each: each})
}

// A watch is the state of one collection's watch.
type watch struct {
	path  string
	query url.Values
	wire  wire
	each  observe.Heard
	last  string // the revision up to which all changes are reported
}

func (c *Client) watch(ctx context.Context, w watch) error {
	err := observe.Resume(ctx, func(ctx context.Context, opened func()) (bool, error) { return c.watchOnce(ctx, &w, opened) })
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("watch %s: %w", w.path, err)
	}
	return err
}

// watchOnce follows over one connection.
func (c *Client) watchOnce(ctx context.Context, w *watch, opened func()) (heard bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive := time.AfterFunc(answerWithin, func() { cancel(observe.ErrSilent) })
	defer alive.Stop()
	body, err := c.openWatch(ctx, w)
	if err != nil {
		return false, err
	}
	defer func() { _ = body.Close() }()
	opened()
	next := w.wire.frames(body)
	for {
		alive.Reset(maxSilence)
		frame, err := next()
		if err != nil {
			return heard, broken(errors.Join(err, context.Cause(ctx)))
		}
		if !alive.Stop() { // the time that the callback takes is not the server's
			return heard, broken(observe.ErrSilent)
		}
		if err := w.hear(frame); err != nil {
			return heard, err
		}
		heard = true
	}
}

func broken(err error) error { return &observe.Broken{Err: err} }

// hear handles one event. A revision counts only after its event was reported.
func (w *watch) hear(frame []byte) error {
	e, err := w.wire.event(frame)
	if err != nil {
		return broken(err)
	}
	var revision string
	switch e.kind {
	case "ADDED", "MODIFIED":
		revision, err = w.each(e.object, false)
	case "DELETED":
		revision, err = w.each(e.object, true)
	case "BOOKMARK":
		revision, err = w.wire.revision(e.object)
	case "ERROR":
		return w.wire.failure(e.object).err()
	default:
		return broken(fmt.Errorf("unknown event type %.40q", e.kind))
	}
	if err != nil {
		return err
	}
	if revision != "" {
		w.last = revision
	}
	return nil
}

// openWatch sends the request once.
func (c *Client) openWatch(ctx context.Context, w *watch) (io.ReadCloser, error) {
	q := url.Values{
		"watch": {"true"}, "allowWatchBookmarks": {"true"},
		"timeoutSeconds": {strconv.Itoa(int(watchFor / time.Second))},
	}
	for k, v := range w.query {
		q[k] = v
	}
	if w.last != "" {
		q.Set("resourceVersion", w.last)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.at(Request{Path: w.path, Query: q}), http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", w.wire.accept)
	r.Header.Set("Accept-Encoding", "identity") // a compressed stream is buffered by the server
	r.Header.Set("User-Agent", "plumbline")
	hc := c.http
	if c.lists != nil {
		hc = c.lists // a connection of its own, on which an event is one write, as with lists
	}
	resp, err := hc.Do(r)
	if err != nil {
		return nil, broken(fmt.Errorf("%w: %w", ErrUnreachable, errors.Join(err, context.Cause(ctx))))
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	why := refusal(resp)
	_ = resp.Body.Close()
	f := failure{code: resp.StatusCode, why: why}
	if after := resp.Header.Get("Retry-After"); after != "" {
		f.after = retryAfter(after, resp.Header.Get("Date"))
	}
	return nil, f.err()
}

// A failure is the server's error instead of an event.
type failure struct {
	code  int
	after time.Duration
	why   error
}

// err separates what can be retried from what cannot.
func (f failure) err() error {
	switch {
	case f.code == http.StatusGone:
		return fmt.Errorf("%w: %w", observe.ErrGone, f.why)
	case f.code == http.StatusUnauthorized, f.code == http.StatusTooManyRequests, f.code/100 != 4: // a token may be renewed
		return &observe.Broken{Err: f.why, After: min(f.after, maxPause)}
	default:
		return f.why
	}
}
