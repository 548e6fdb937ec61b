// Package door admits the callers of agents and of the controller: with a token that the API server accepts, a
// signature of the request, and a right that the API server grants.
package door

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/agent"
)

// A Reviewer asks the API server who owns a token and what its owner may do.
type Reviewer interface {
	// Genuine reports whether the token is signed with a key that the API server publishes. It
	// asks nobody, as a rule. true proves nothing: a token that was revoked is genuine too. An
	// error means that the caller should retry.
	Genuine(ctx context.Context, token string) (bool, error)
	// Authenticate identifies the token's owner; ok is false if the token is invalid,
	// expired, or made for another audience.
	Authenticate(ctx context.Context, token, audience string) (owner any, ok bool, err error)
	Authorize(ctx context.Context, owner any, verb, group, resource, name string) (bool, error)
}

// How long an answer of the API server is cached. A revoked right ends after a minute; a
// refusal is asked again after five seconds.
const (
	yesFor   = time.Minute
	noFor    = 5 * time.Second
	maxKnown = 1024
	maxToken = 16 << 10
)

// maxBody bounds the size of a request.
const maxBody = 256 << 10

// A Right is what callers need beside a verb: the object is named Name, or any if that is empty.
type Right struct{ Group, Resource, Name string }

// A Door admits authorized requests. It refuses if the API server cannot be asked. Order: what
// costs nothing is refused first, and the API server is asked last, within the budget of the
// caller's address: callers must not use the door to overload it, nor keep others out.
type Door struct {
	review Reviewer
	of     string // for whom requests are signed
	right  Right
	now    func() time.Time

	mu      sync.Mutex
	known   map[[sha256.Size]byte]verdict
	sources *sources
}

type verdict struct {
	ok    bool
	owner any // of the token, as the Reviewer has it
	until time.Time
}

// A Caller is who was admitted.
type Caller struct {
	Owner any               // of the token, as the Reviewer has it
	Key   [sha256.Size]byte // of the token
}

type callerKey struct{}

// WithCaller returns a request that was admitted.
func WithCaller(r *http.Request, c Caller) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
}

// CallerOf is who was admitted with a request.
func CallerOf(r *http.Request) (Caller, bool) {
	c, ok := r.Context().Value(callerKey{}).(Caller)
	return c, ok
}

// New returns the door of a node's agent, or of another program that requests are signed for.
func New(r Reviewer, of string, right Right, now func() time.Time) *Door {
	return &Door{review: r, of: of, right: right, now: now, known: map[[sha256.Size]byte]verdict{}, sources: newSources(now)}
}

// Wrap requires the right for verb before it admits a request.
func (d *Door) Wrap(verb string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get(agent.Header)
		switch {
		case token == "":
			http.Error(w, "no token: send one in "+agent.Header, http.StatusUnauthorized)
			return
		case len(token) > maxToken || d.review == nil:
			http.Error(w, "the token is too long, or no tokens can be verified here", http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "the request is too long or incomplete", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		audience, err := agent.AudienceOf(d.of, r, body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		v, err := d.may(r.Context(), sourceOf(r.RemoteAddr), token, audience, verb)
		switch {
		case err != nil:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "the API server cannot be asked to verify the token; retry", http.StatusServiceUnavailable)
		case !v.ok:
			http.Error(w, fmt.Sprintf("the token is not valid for this request, or its owner may not %s %s.%s", verb, d.right.Resource, d.right.Group), http.StatusForbidden)
		default:
			next.ServeHTTP(w, WithCaller(r, Caller{v.owner, sha256.Sum256([]byte(token))}))
		}
	})
}

var errBusy = errors.New("too many token reviews; retry")

func (d *Door) may(ctx context.Context, source netip.Addr, token, audience, verb string) (verdict, error) {
	end, ok := meant(token, audience)
	if !ok {
		return verdict{}, nil // refused without asking the API server
	}
	key := sha256.Sum256([]byte(verb + "\x00" + token))
	d.mu.Lock()
	v, ok := d.known[key]
	d.mu.Unlock()
	if ok && d.now().Before(v.until) {
		return v, nil
	}
	if ok, err := d.review.Genuine(ctx, token); !ok || err != nil {
		return verdict{}, err
	}
	done, ok := d.sources.review(source)
	if !ok {
		return verdict{}, errBusy
	}
	defer done()
	owner, yes, err := d.ask(ctx, token, audience, verb)
	if err != nil {
		return verdict{}, err
	}
	v = verdict{ok: yes, owner: owner}
	d.remember(key, v, end)
	return v, nil
}

func (d *Door) ask(ctx context.Context, token, audience, verb string) (owner any, ok bool, err error) {
	if owner, ok, err = d.review.Authenticate(ctx, token, audience); err != nil || !ok {
		return nil, false, err
	}
	ok, err = d.review.Authorize(ctx, owner, verb, d.right.Group, d.right.Resource, d.right.Name)
	return owner, ok, err
}

func (d *Door) remember(key [sha256.Size]byte, v verdict, end time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	if len(d.known) >= maxKnown {
		for k, v := range d.known {
			if !now.Before(v.until) {
				delete(d.known, k)
			}
		}
	}
	if len(d.known) >= maxKnown {
		clear(d.known) // too many tokens: drop the cache
	}
	keep := noFor
	if v.ok {
		keep = yesFor
	}
	until := now.Add(keep)
	if end.After(now) && end.Before(until) {
		until = end // by this clock; it is refused a minute after its end by any
	}
	v.until = until
	d.known[key] = v
}
