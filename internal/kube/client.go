// Package kube reads Kubernetes: pods, nodes and services, as a stream, and hands out
// lists of any other resource. It cannot write: its transport lets nothing through but GET.
package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubeconfigs name these
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"plumbline.dev/plumbline/internal/observe"
)

// What a caller does differently for.
var (
	ErrNoConfig    = errors.New("no kubeconfig: give --kubeconfig, or set KUBECONFIG")
	ErrForbidden   = errors.New("no right to read it")
	ErrNotFound    = observe.ErrNotThere
	ErrUnreachable = errors.New("the API server does not answer")
	ErrTruncated   = errors.New("the answer was cut off")
)

// Options say which cluster, and how gently.
type Options struct {
	Kubeconfig string
	Context    string
	Timeout    time.Duration // of one request
	Gentle     bool          // pages instead of whole lists
}

// A Client reads one cluster.
type Client struct {
	Options
	base *url.URL
	http *http.Client
}

func (o Options) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context})
}

// Connect finds the cluster. It asks nothing of it yet.
func Connect(o Options) (*Client, error) {
	cfg, err := o.loader().ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, ErrNoConfig
	}
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { return readOnly{rt} })
	hc, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Minute
	}
	return &Client{Options: o, base: base, http: hc}, nil
}

// Namespace is the one that the kubeconfig's context names.
func Namespace(o Options) string {
	ns, _, err := o.loader().Namespace()
	if err != nil || ns == "" {
		return "default"
	}
	return ns
}

// readOnly refuses to send anything but a GET: no bug of ours can write.
type readOnly struct{ http.RoundTripper }

func (r readOnly) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Method != http.MethodGet {
		return nil, fmt.Errorf("%s %s: this client only reads", q.Method, q.URL.Path)
	}
	return r.RoundTripper.RoundTrip(q)
}

// How often a busy API server is asked again, and how long we wait for it at most.
const (
	maxBusy  = 5
	maxPause = 30 * time.Second
)

// open asks for a path and gives the body, which the caller closes, and the server's time.
func (c *Client) open(ctx context.Context, path string, query url.Values, accept string) (io.ReadCloser, time.Time, error) {
	u := *c.base
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	u.RawQuery = query.Encode()
	for try := 0; ; try++ {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, time.Time{}, err
		}
		q.Header.Set("Accept", accept)
		q.Header.Set("User-Agent", "plumbline")
		resp, err := c.http.Do(q)
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
		at, dateErr := http.ParseTime(resp.Header.Get("Date"))
		if resp.StatusCode == http.StatusOK && dateErr == nil {
			return resp.Body, at, nil
		}
		why := refusal(resp)
		_ = resp.Body.Close()
		if dateErr != nil {
			why = fmt.Errorf("no time in the answer: %w", dateErr)
		}
		if resp.StatusCode != http.StatusTooManyRequests || try == maxBusy {
			return nil, at, fmt.Errorf("read %s: %w", path, why)
		}
		if err := pause(ctx, resp.Header.Get("Retry-After")); err != nil {
			return nil, time.Time{}, fmt.Errorf("read %s: %w", path, err)
		}
	}
}

// refusal turns an answer that is none into an error, with what the server said.
func refusal(resp *http.Response) error {
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	text := strings.TrimSpace(message(said))
	switch resp.StatusCode {
	case http.StatusForbidden, http.StatusUnauthorized:
		return fmt.Errorf("%w: %s", ErrForbidden, text)
	case http.StatusNotFound:
		return fmt.Errorf("%w: %s", ErrNotFound, text)
	default:
		return fmt.Errorf("%s: %s", resp.Status, text)
	}
}

// pause obeys a busy server, within reason.
func pause(ctx context.Context, after string) error {
	d := time.Second
	if n, err := strconv.Atoi(after); err == nil && n >= 0 {
		d = min(time.Duration(n)*time.Second, maxPause)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
