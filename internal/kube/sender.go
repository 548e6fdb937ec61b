package kube

import (
	"context"
	"errors"
	"io"
	"net/http"

	"k8s.io/client-go/rest"
)

// A Sender sends the requests that its list admits, and no others. It is how the packages
// that write do so.
type Sender struct {
	c    *Client
	http *http.Client
}

// Sender returns one with the list may. It sends no request yet.
func (c *Client) Sender(may func(method, path string) bool) (*Sender, error) {
	hc, err := c.through(c.cfg, may)
	if err != nil {
		return nil, err
	}
	return &Sender{c: c, http: hc}, nil
}

// Guarded gives another library the configuration and a client that sends what the list admits, and nothing else.
func (c *Client) Guarded(may func(method, path string) bool) (*rest.Config, *http.Client, error) {
	hc, err := c.through(c.cfg, may)
	return rest.CopyConfig(c.cfg), hc, err
}

// SenderAs returns one that sends as the owner of a token instead of the kubeconfig's user.
func (c *Client) SenderAs(token func(ctx context.Context) (string, error), may func(method, path string) bool) (*Sender, error) {
	cfg := rest.AnonymousClientConfig(c.cfg)
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { return bearer{rt, token} })
	hc, err := c.through(cfg, may)
	if err != nil {
		return nil, err
	}
	return &Sender{c: c, http: hc}, nil
}

// A bearer adds a token to each request.
type bearer struct {
	http.RoundTripper
	token func(ctx context.Context) (string, error)
}

func (b bearer) RoundTrip(q *http.Request) (*http.Response, error) {
	token, err := b.token(q.Context())
	if err != nil {
		return nil, err
	}
	with := q.Clone(q.Context())
	with.Header.Set("Authorization", "Bearer "+token)
	return b.RoundTripper.RoundTrip(with)
}

// Send returns a successful answer, whose body the caller closes. If the server is busy it
// retries until the context ends.
func (s *Sender) Send(ctx context.Context, r Request) (*http.Response, error) {
	return s.c.send(ctx, s.http, r)
}

// Once sends a request one time and returns the answer, whatever its code.
func (s *Sender) Once(ctx context.Context, r Request) (*http.Response, error) {
	return s.c.once(ctx, s.http, r)
}

// ReadBody reads and closes a body with one object; ErrTooBig if it is longer than objects
// are.
func ReadBody(body io.ReadCloser) ([]byte, error) {
	b, err := io.ReadAll(&bounded{body: body, left: maxObject})
	return b, errors.Join(err, body.Close())
}
