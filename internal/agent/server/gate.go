package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/agent"
)

// A Reviewer asks the API server who owns a token and what its owner may do.
type Reviewer interface {
	// Authenticate identifies the token's owner; ok is false if the token is invalid,
	// expired, or made for another audience.
	Authenticate(ctx context.Context, token, audience string) (owner any, ok bool, err error)
	Authorize(ctx context.Context, owner any, verb, group, resource, name string) (bool, error)
}

// How long an answer of the API server is cached. A revoked right ends after a minute; a
// refusal is asked again after five seconds.
const (
	yesFor     = time.Minute
	noFor      = 5 * time.Second
	maxKnown   = 1024
	maxToken   = 16 << 10
	maxReviews = 8 // concurrent: callers must not use the agent to overload the API server
	perSecond  = 5.0
	maxBurst   = 40.0
)

// A gate admits authorized requests. It refuses if the API server cannot be asked.
type gate struct {
	review Reviewer
	node   string
	now    func() time.Time

	mu      sync.Mutex
	known   map[[sha256.Size]byte]verdict
	credit  float64
	last    time.Time
	reviews chan struct{}
}

type verdict struct {
	ok    bool
	until time.Time
}

func newGate(r Reviewer, node string, now func() time.Time) *gate {
	return &gate{review: r, node: node, now: now, credit: maxBurst, last: now(), known: map[[sha256.Size]byte]verdict{}, reviews: make(chan struct{}, maxReviews)}
}

// wrap requires the right for verb before it admits a request.
func (g *gate) wrap(verb string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get(agent.Header)
		switch {
		case token == "":
			http.Error(w, "no token: send one in "+agent.Header, http.StatusUnauthorized)
			return
		case len(token) > maxToken || g.review == nil:
			http.Error(w, "the token is too long, or this agent cannot verify tokens", http.StatusUnauthorized)
			return
		}
		ok, err := g.may(r.Context(), token, verb)
		switch {
		case err != nil:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "the API server cannot be asked to verify the token; retry", http.StatusServiceUnavailable)
		case !ok:
			http.Error(w, fmt.Sprintf("the token is not valid on this node, or its owner may not %s %s.%s", verb, agent.Resource, agent.Group), http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

var errBusy = errors.New("too many token reviews; retry")

func (g *gate) may(ctx context.Context, token, verb string) (bool, error) {
	audience := agent.Audience
	if verb != "get" {
		audience = agent.RepairAudience(g.node) // a token for changes is valid on this node only
	}
	end, ok := meant(token, audience, g.now())
	if !ok {
		return false, nil // refused without asking the API server
	}
	key := sha256.Sum256([]byte(verb + "\x00" + token))
	g.mu.Lock()
	v, ok := g.known[key]
	if ok && g.now().Before(v.until) {
		g.mu.Unlock()
		return v.ok, nil
	}
	ok = g.spend()
	g.mu.Unlock()
	if !ok {
		return false, errBusy
	}
	select {
	case g.reviews <- struct{}{}:
		defer func() { <-g.reviews }()
	default:
		return false, errBusy
	}
	yes, err := g.ask(ctx, token, audience, verb)
	if err != nil {
		return false, err
	}
	g.remember(key, yes, end)
	return yes, nil
}

func (g *gate) ask(ctx context.Context, token, audience, verb string) (bool, error) {
	owner, ok, err := g.review.Authenticate(ctx, token, audience)
	if err != nil || !ok {
		return false, err
	}
	return g.review.Authorize(ctx, owner, verb, agent.Group, agent.Resource, g.node)
}

func (g *gate) remember(key [sha256.Size]byte, yes bool, end time.Time) {
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
		clear(g.known) // too many tokens: drop the cache
	}
	keep := noFor
	if yes {
		keep = yesFor
	}
	until := now.Add(keep)
	if end.Before(until) {
		until = end // never longer than the token is valid
	}
	g.known[key] = verdict{yes, until}
}

// spend takes one of the token reviews that callers may cause per second. The caller holds
// mu.
func (g *gate) spend() bool {
	now := g.now()
	g.credit = min(maxBurst, g.credit+now.Sub(g.last).Seconds()*perSecond)
	g.last = now
	if g.credit < 1 {
		return false
	}
	g.credit--
	return true
}

// meant reports whether a token claims this audience and has not expired. The claim proves
// nothing; its absence is enough to refuse.
func meant(token, audience string, now time.Time) (end time.Time, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return end, false
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return end, false
	}
	var claims struct {
		Audiences audiences `json:"aud"`
		Expires   int64     `json:"exp"`
	}
	if json.Unmarshal(b, &claims) != nil || !slices.Contains(claims.Audiences, audience) {
		return end, false
	}
	end = time.Unix(claims.Expires, 0)
	return end, now.Before(end)
}

// audiences is a string or a list in JSON.
type audiences []string

func (a *audiences) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = audiences{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(a))
}
