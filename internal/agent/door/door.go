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
	"strings"
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
	// Authorize reports whether the owner may do something to an object; an empty namespace means all of them.
	Authorize(ctx context.Context, owner any, verb, group, resource, namespace, name string) (bool, error)
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

// A Right is what callers need beside a verb: for the object Name, or any if that is empty, in Namespace, or all of them.
type Right struct{ Group, Resource, Namespace, Name string }

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
	bodies  map[netip.Addr]int // that are being read
	nonces  nonces
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
	return &Door{review: r, of: of, right: right, now: now, known: map[[sha256.Size]byte]verdict{}, sources: newSources(now), bodies: map[netip.Addr]int{}, nonces: newNonces()}
}

// Wrap requires the door's right for verb before it admits a request.
func (d *Door) Wrap(verb string, next http.Handler) http.Handler {
	return d.WrapFor(verb, func(*http.Request) Right { return d.right }, next)
}

// WrapFor requires the right that a request needs, which must depend on nothing but its URL.
func (d *Door) WrapFor(verb string, right func(*http.Request) Right, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get(agent.Header)
		v, refused := d.admit(w, r, token, demand{verb, right(r)})
		if refused != nil {
			w.Header().Set("Connection", "close") // the rest of the request is not read
			if refused.code == http.StatusServiceUnavailable {
				w.Header().Set("Retry-After", "1")
			}
			http.Error(w, refused.why, refused.code)
			return
		}
		admitted(r.Context())
		next.ServeHTTP(w, WithCaller(r, Caller{v.owner, sha256.Sum256([]byte(token))}))
	})
}

// A demand is what the owner of a token must be allowed to do.
type demand struct {
	verb string
	Right
}

func (n demand) String() string {
	s := fmt.Sprintf("%s %s.%s", n.verb, n.Resource, n.Group)
	if n.Namespace != "" {
		s += " in namespace " + n.Namespace
	}
	return s
}

// key is what a verdict about a token is cached by.
func (n demand) key(token string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join([]string{n.verb, n.Group, n.Resource, n.Namespace, n.Name, token}, "\x00")))
}

type refusal struct {
	code int
	why  string
}

var errUnasked = &refusal{http.StatusServiceUnavailable, "the API server cannot be asked to verify the token; retry"}

// admit decides on a request. Nothing of its body is read before its token is one that the API
// server signed for the key in its headers.
func (d *Door) admit(w http.ResponseWriter, r *http.Request, token string, need demand) (verdict, *refusal) {
	switch {
	case token == "":
		return verdict{}, &refusal{http.StatusUnauthorized, "no token: send one in " + agent.Header}
	case len(token) > maxToken || d.review == nil:
		return verdict{}, &refusal{http.StatusUnauthorized, "the token is too long, or no tokens can be verified here"}
	case r.Method != http.MethodPost && r.ContentLength != 0:
		return verdict{}, &refusal{http.StatusBadRequest, "a request that only reads has no body"}
	}
	denied := &refusal{http.StatusForbidden, fmt.Sprintf("the token is not valid for this request, or its owner may not %s", need)}
	audience, err := agent.IntendedAudience(d.of, r)
	if err != nil {
		return verdict{}, &refusal{http.StatusForbidden, err.Error()}
	}
	end, ok := meant(token, audience)
	if !ok {
		return verdict{}, denied
	}
	key := need.key(token)
	v, known := d.recall(key)
	if !known {
		switch ok, err := d.review.Genuine(r.Context(), token); {
		case err != nil:
			return verdict{}, errUnasked
		case !ok:
			return verdict{}, denied
		}
	}
	if refused := d.signed(w, r); refused != nil {
		return verdict{}, refused
	}
	if !known {
		if v, err = d.may(r.Context(), sourceOf(r.RemoteAddr), token, audience, need, end); err != nil {
			return verdict{}, errUnasked
		}
	}
	if !v.ok {
		return verdict{}, denied
	}
	switch fresh, room := d.nonces.use(agent.NonceOf(r), r.Method, sha256.Sum256([]byte(token)), d.now(), end); {
	case !room:
		return verdict{}, &refusal{http.StatusServiceUnavailable, "too many requests with this token; retry with another one"}
	case !fresh:
		return verdict{}, &refusal{http.StatusForbidden, "this request was answered before: each needs a nonce of its own"}
	}
	return v, nil
}

// bodiesOf bounds the bodies of one address that are read at a time, bodiesAtOnce those of all.
const (
	bodiesAtOnce = 64
	bodiesOf     = 4
)

var errBodies = &refusal{http.StatusServiceUnavailable, "too many requests are being sent from this address; retry"}

// body takes a place to read a body.
func (d *Door) body(from netip.Addr) (done func(), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := 0
	for _, n := range d.bodies {
		all += n
	}
	if d.bodies[from] >= bodiesOf || all >= bodiesAtOnce {
		return nil, false
	}
	d.bodies[from]++
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.bodies[from]--; d.bodies[from] == 0 {
			delete(d.bodies, from)
		}
	}, true
}

// signed reads the body, and verifies that the request is signed with the key in its headers.
func (d *Door) signed(w http.ResponseWriter, r *http.Request) *refusal {
	var body []byte
	if r.Method == http.MethodPost {
		done, ok := d.body(sourceOf(r.RemoteAddr))
		if !ok {
			return errBodies
		}
		var err error
		body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		done()
		if err != nil {
			return &refusal{http.StatusBadRequest, "the request is too long or incomplete"}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if _, err := agent.AudienceOf(d.of, r, body); err != nil {
		return &refusal{http.StatusForbidden, err.Error()}
	}
	return nil
}

func (d *Door) recall(key [sha256.Size]byte) (verdict, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, ok := d.known[key]
	return v, ok && d.now().Before(v.until)
}

var errBusy = errors.New("too many token reviews; retry")

// may asks the API server, within the budget of the caller's address.
func (d *Door) may(ctx context.Context, source netip.Addr, token, audience string, need demand, end time.Time) (verdict, error) {
	done, ok := d.sources.review(source)
	if !ok {
		return verdict{}, errBusy
	}
	defer done()
	owner, yes, err := d.ask(ctx, token, audience, need)
	if err != nil {
		return verdict{}, err
	}
	v := verdict{ok: yes, owner: owner}
	d.remember(need.key(token), v, end)
	return v, nil
}

func (d *Door) ask(ctx context.Context, token, audience string, need demand) (owner any, ok bool, err error) {
	if owner, ok, err = d.review.Authenticate(ctx, token, audience); err != nil || !ok {
		return nil, false, err
	}
	ok, err = d.review.Authorize(ctx, owner, need.verb, need.Group, need.Resource, need.Namespace, need.Name)
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
