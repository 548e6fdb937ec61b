// Package kube reads Kubernetes: pods, nodes and services as a stream, and lists of any
// other resource. It cannot write: its transport sends only GET and the request for a token
// for agents. Packages that write (kube/write, kube/probe) use a Sender, which admits only
// what their list names.
package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // auth providers that kubeconfigs name
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"plumbline.dev/plumbline/internal/observe"
)

// Errors that callers distinguish.
var (
	errNoConfig    = errors.New("no kubeconfig: pass --kubeconfig or set KUBECONFIG")
	ErrForbidden   = errors.New("access denied")
	errNotFound    = observe.ErrNotThere
	ErrUnreachable = errors.New("the API server does not answer")
	errTruncated   = errors.New("the answer is incomplete")
)

// Options select the cluster and the load on it.
type Options struct {
	Kubeconfig string
	Context    string
	Overrides  Overrides
	Timeout    time.Duration // of one request
	Gentle     bool          // one list at a time
	Forward    bool          // reach agents by port-forward
	Account    string        // NAMESPACE/NAME of a ServiceAccount of which a token may be asked for, beside Plumbline's own
}

// A Client reads one cluster.
type Client struct {
	Options
	base *url.URL
	cfg  *rest.Config
	// forward sends requests to agents by port-forward; nil: through the API server's proxy.
	forward func(http.RoundTripper) http.RoundTripper
	http    *http.Client
	lists   *http.Client // for whole lists; nil: the same as for everything else
	line    waitingLine
	turn    waitingLine // for lists, if Gentle

	page atomic.Int32 // rows per page, for a server that cannot stream a whole list; 0: all

	noServiceType atomic.Bool // the API server cannot select services by their type

	quickest atomic.Int64 // duration of the quickest answer
}

// Overrides take precedence over what the kubeconfig says, as kubectl's flags of the same names do.
type Overrides struct {
	Cluster, User, Server, Token, As string
	AsGroups                         []string
}

func (o Options) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	with := &clientcmd.ConfigOverrides{CurrentContext: o.Context}
	with.Context.Cluster, with.Context.AuthInfo = o.Overrides.Cluster, o.Overrides.User
	with.ClusterInfo.Server, with.AuthInfo.Token = o.Overrides.Server, o.Overrides.Token
	with.AuthInfo.Impersonate, with.AuthInfo.ImpersonateGroups = o.Overrides.As, o.Overrides.AsGroups
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, with)
}

// Connect reads the kubeconfig. It sends no request yet.
func Connect(o Options) (*Client, error) {
	cfg, err := o.loader().ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errNoConfig
	}
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
	c := &Client{Options: o, base: base, cfg: cfg}
	if o.Forward {
		if c.forward, err = c.forwarding(); err != nil {
			return nil, err
		}
	}
	if c.http, err = c.through(cfg, o.mayRead()); err != nil {
		return nil, err
	}
	if c.lists, err = unpagedClient(cfg, base); err != nil {
		return nil, err
	}
	return c, nil
}

// Namespace is the namespace of the kubeconfig's context.
func Namespace(o Options) string {
	ns, _, err := o.loader().Namespace()
	if err != nil || ns == "" {
		return "default"
	}
	return ns
}

// Contexts are those of the kubeconfig.
func Contexts(o Options) ([]string, error) {
	all, err := o.loader().RawConfig()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	return slices.Sorted(maps.Keys(all.Contexts)), nil
}

// Server is the address of the API server; empty if the kubeconfig cannot be read.
func Server(o Options) string {
	cfg, err := o.loader().ClientConfig()
	if err != nil {
		return ""
	}
	return cfg.Host
}

// maxPause is how long to wait at most between attempts if the API server is busy. A server
// that fills its cache asks for one second at first and for half a minute in the end.
const maxPause = 30 * time.Second

// A Request is a request to the API server.
type Request struct {
	Method, Path, Accept string
	Query                url.Values
	Header               http.Header
	Body                 []byte
}

// open requests a path and returns the body, which the caller closes, and the server's
// time.
func (c *Client) open(ctx context.Context, hc *http.Client, r Request) (io.ReadCloser, time.Time, error) {
	r.Method = http.MethodGet
	resp, err := c.send(ctx, hc, r)
	if err != nil {
		return nil, time.Time{}, err
	}
	at, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		_ = resp.Body.Close()
		return nil, at, fmt.Errorf("read %s: the answer has no valid Date header: %w", r.Path, err)
	}
	return resp.Body, at, nil
}

// send returns a successful answer, whose body the caller closes. If the server is busy it
// retries as requested until the context ends, one request after the other.
func (c *Client) send(ctx context.Context, hc *http.Client, r Request) (*http.Response, error) {
	var refused *busyError
	var until time.Time
	first := false
	for {
		if !first && (refused != nil || !c.line.empty()) {
			leave, err := c.line.join(ctx)
			if err != nil {
				return nil, gaveUp(r, refused, err)
			}
			defer leave()
			first = true
		}
		if err := await(ctx, until); err != nil {
			return nil, gaveUp(r, refused, err)
		}
		resp, err := c.sendOnce(ctx, hc, r)
		switch {
		case err == nil, errors.Is(err, ErrUnreachable):
			return resp, err
		case !errors.As(err, &refused):
			return nil, fmt.Errorf("%s %s: %w", Verb(r.Method), r.Path, err)
		}
		until = monotonic().Add(refused.Wait)
	}
}

// gaveUp reports that there is no time left to retry, and why a retry is needed.
func gaveUp(r Request, refused *busyError, err error) error {
	if refused != nil {
		err = refused
	}
	return fmt.Errorf("%s %s: the API server is busy: %w", Verb(r.Method), r.Path, err)
}

// sendOnce is send for callers that retry themselves.
func (c *Client) sendOnce(ctx context.Context, hc *http.Client, r Request) (*http.Response, error) {
	if len(r.Body) > 0 {
		r.Header = r.Header.Clone()
		if r.Header == nil {
			r.Header = http.Header{}
		}
		r.Header.Set("Content-Type", AcceptJSON)
	}
	resp, err := c.once(ctx, hc, r)
	if err != nil {
		return nil, err
	}
	return accepted(resp)
}

// accepted turns an answer that is not a success into an error.
func accepted(resp *http.Response) (*http.Response, error) {
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return resp, nil
	}
	err := orBusy(resp, refusal(resp))
	_ = resp.Body.Close()
	return nil, err
}

// once sends a request one time and returns the answer, whatever its code.
func (c *Client) once(ctx context.Context, hc *http.Client, r Request) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, r.Method, c.at(r), bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	if r.Header != nil {
		q.Header = r.Header.Clone()
	}
	q.Header.Set("Accept", r.Accept)
	q.Header.Set("User-Agent", "plumbline")
	resp, err := hc.Do(q)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return resp, nil
}

// Server is the address of the API server.
func (c *Client) Server() string { return c.base.String() }

// at is the URL of a request.
func (c *Client) at(r Request) string {
	u := *c.base
	u.Path = strings.TrimSuffix(u.Path, "/") + r.Path
	u.RawQuery = r.Query.Encode()
	return u.String()
}

// Verb names what a method does to an object, for errors.
func Verb(method string) string {
	switch method {
	case http.MethodPut, http.MethodPatch:
		return "update"
	case http.MethodPost:
		return "create"
	case http.MethodDelete:
		return "delete"
	default:
		return "read"
	}
}

// refusal turns a failed response into an error with the server's message.
func refusal(resp *http.Response) error {
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	text := Readable(Message(said))
	switch resp.StatusCode {
	case http.StatusForbidden, http.StatusUnauthorized:
		return fmt.Errorf("%w: %s", ErrForbidden, text)
	case http.StatusNotFound:
		return fmt.Errorf("%w: %s", errNotFound, text)
	default:
		return fmt.Errorf("%s: %s", resp.Status, text)
	}
}

// monotonic is for durations only, never for ages.
func monotonic() time.Time {
	return time.Now() //nolint:forbidigo // only used for durations
}
