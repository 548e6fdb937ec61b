package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/agent"
)

// A Reviewer asks the API server whose a token is and what its owner may do.
type Reviewer interface {
	// Authenticate gives a name for the token's owner; empty if it is nobody's, is over,
	// or was made for another audience.
	Authenticate(ctx context.Context, token, audience string) (owner any, ok bool, err error)
	Authorize(ctx context.Context, owner any, verb, group, resource, name string) (bool, error)
}

// How long an answer of the API server is believed. A right that is taken away is gone
// after a minute; a mistake is forgiven after five seconds.
const (
	yesFor     = time.Minute
	noFor      = 5 * time.Second
	maxKnown   = 1024
	maxToken   = 16 << 10
	maxReviews = 8 // under way at once: a stranger must not use us against the API server
)

// A gate lets through those who may. It refuses when the API server cannot be asked.
type gate struct {
	review Reviewer
	node   string
	now    func() time.Time

	mu      sync.Mutex
	known   map[[sha256.Size]byte]verdict
	reviews chan struct{}
}

type verdict struct {
	ok    bool
	until time.Time
}

func newGate(r Reviewer, node string, now func() time.Time) *gate {
	return &gate{review: r, node: node, now: now, known: map[[sha256.Size]byte]verdict{}, reviews: make(chan struct{}, maxReviews)}
}

// wrap asks for the verb's right before it lets a request through.
func (g *gate) wrap(verb string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get(agent.Header)
		switch {
		case token == "":
			http.Error(w, "no token: send one in "+agent.Header, http.StatusUnauthorized)
			return
		case len(token) > maxToken:
			http.Error(w, "the token is too long", http.StatusUnauthorized)
			return
		}
		ok, err := g.may(r.Context(), token, verb)
		switch {
		case err != nil:
			http.Error(w, "the API server cannot be asked about the token", http.StatusServiceUnavailable)
		case !ok:
			http.Error(w, fmt.Sprintf("the token is not valid here, or its owner may not %s %s.%s", verb, agent.Resource, agent.Group), http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

var errBusy = errors.New("too many tokens are being looked at")

func (g *gate) may(ctx context.Context, token, verb string) (bool, error) {
	key := sha256.Sum256([]byte(verb + "\x00" + token))
	g.mu.Lock()
	v, ok := g.known[key]
	g.mu.Unlock()
	if ok && g.now().Before(v.until) {
		return v.ok, nil
	}
	select {
	case g.reviews <- struct{}{}:
		defer func() { <-g.reviews }()
	default:
		return false, errBusy
	}
	yes, err := g.ask(ctx, token, verb)
	if err != nil {
		return false, err
	}
	g.remember(key, yes)
	return yes, nil
}

func (g *gate) ask(ctx context.Context, token, verb string) (bool, error) {
	owner, ok, err := g.review.Authenticate(ctx, token, agent.Audience)
	if err != nil || !ok {
		return false, err
	}
	return g.review.Authorize(ctx, owner, verb, agent.Group, agent.Resource, g.node)
}

func (g *gate) remember(key [sha256.Size]byte, yes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if len(g.known) >= maxKnown {
		for k, v := range g.known {
			if !now.Before(v.until) {
				delete(g.known, k)
			}
		}
	}
	if len(g.known) >= maxKnown {
		clear(g.known) // a flood: begin again
	}
	keep := noFor
	if yes {
		keep = yesFor
	}
	g.known[key] = verdict{yes, now.Add(keep)}
}
