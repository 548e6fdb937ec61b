// Package review is all that an agent asks of Kubernetes: who owns a token and what its owner
// may do, with which keys tokens are signed, and to store the agent's own Lease.
package review

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

const (
	within     = 5 * time.Second
	impatience = time.Second // with one address, while there is another
	maxAnswer  = 1 << 20

	tokenReviews  = "/apis/authentication.k8s.io/v1/tokenreviews"
	accessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
)

// A who is the owner of a token.
type who struct {
	User   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// A Reviewer asks one API server.
type Reviewer struct {
	bases   []*url.URL
	good    atomic.Int32 // index of the address that answered last
	http    *http.Client
	token   string // file of its own token; empty: another credential
	keyring keyring
}

// New returns a reviewer for the cluster that it runs in, with the token of its own pod.
func New() (*Reviewer, error) {
	cfg, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("find the API server: %w", err)
	}
	return NewFor(cfg)
}

// NewFor returns a reviewer for another configuration.
func NewFor(cfg *rest.Config) (*Reviewer, error) {
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("find the API server: %w", err)
	}
	hc, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	own := *hc
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the token must not go to another server
	return &Reviewer{bases: []*url.URL{base}, http: &own, token: cfg.BearerTokenFile}, nil
}

// Also adds another address of the same API server, for when the first cannot be reached.
// Its certificate is verified with the same authority.
func (r *Reviewer) Also(server string) error {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("not an https address of an API server: %.80q", server)
	}
	r.bases = append(r.bases, u)
	return nil
}

// Authenticate returns the owner of the token, a who; ok is false if the token is invalid,
// expired, or made for another audience.
func (r *Reviewer) Authenticate(ctx context.Context, token, audience string) (owner any, ok bool, err error) {
	if token == "" || audience == "" { // an empty audience would mean the API server's own
		return nil, false, nil
	}
	var answer tokenReview
	if err := r.ask(ctx, tokenReviews, newTokenReview(token, audience), &answer); err != nil {
		return nil, false, fmt.Errorf("review a token: %w", err)
	}
	who, ok := answer.owner(audience)
	if !ok {
		return nil, false, nil
	}
	return who, true, nil
}

// Authorize reports whether the owner that Authenticate returned may do something, in a namespace or, if that is empty, in all.
func (r *Reviewer) Authorize(ctx context.Context, owner any, verb, group, resource, namespace, name string) (bool, error) {
	who, ok := owner.(who)
	if !ok || who.User == "" {
		return false, errors.New("review a right: the owner is not from Authenticate")
	}
	var answer accessReview
	if err := r.ask(ctx, accessReviews, newAccessReview(who, verb, group, resource, namespace, name), &answer); err != nil {
		return false, fmt.Errorf("review the right of %s to %s %s.%s: %w", who.User, verb, resource, group, err)
	}
	return answer.Status.Allowed && !answer.Status.Denied, nil
}

// ask posts a request and reads the answer. Anything but a valid answer is an error: never
// a yes, and never a no.
func (r *Reviewer) ask(ctx context.Context, path string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	return r.send(ctx, request{method: http.MethodPost, path: path, kind: "application/json", body: body}, answer)
}

func (r *Reviewer) get(ctx context.Context, path, accept string, answer any) error {
	return r.send(ctx, request{method: http.MethodGet, path: path, accept: accept}, answer)
}

// A request to the API server.
type request struct {
	method, path, kind, accept string
	query                      url.Values
	body                       []byte
}

// send sends a request to the address that answered last, then to the others.
func (r *Reviewer) send(ctx context.Context, q request, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var errs []error
	first := r.good.Load()
	for i := range r.bases {
		at := (int(first) + i) % len(r.bases)
		most := within
		if i < len(r.bases)-1 {
			most = impatience // a connection may hang without an error
		}
		try, cancel := context.WithTimeout(ctx, most)
		err := r.once(try, r.bases[at], q, answer)
		cancel()
		var away *url.Error
		if !errors.As(err, &away) {
			r.good.Store(int32(at))
			return err // an answer of any kind
		}
		errs = append(errs, err)
		r.http.CloseIdleConnections()
	}
	return errors.Join(errs...)
}

func (r *Reviewer) once(ctx context.Context, base *url.URL, q request, answer any) error {
	u := *base
	u.Path, u.RawQuery = strings.TrimSuffix(u.Path, "/")+q.path, q.query.Encode()
	h, err := http.NewRequestWithContext(ctx, q.method, u.String(), bytes.NewReader(q.body))
	if err != nil {
		return err
	}
	if q.kind != "" {
		h.Header.Set("Content-Type", q.kind)
	}
	h.Header.Set("Accept", cmp.Or(q.accept, "application/json"))
	h.Header.Set("User-Agent", "plumbline-agent")
	resp, err := r.http.Do(h)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return take(resp.StatusCode, resp.Body, answer)
}

// A codeError is an answer with this code.
type codeError int

func (e codeError) Error() string { return fmt.Sprintf("the API server answered %d", int(e)) }

// take reads a valid answer.
func take(code int, body io.Reader, answer any) error {
	if !slices.Contains([]int{http.StatusOK, http.StatusCreated}, code) {
		return codeError(code)
	}
	if err := json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(answer); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}
