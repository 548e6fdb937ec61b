package door

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
)

// What a token says of itself is only ever a reason to refuse it.
func TestMeant(t *testing.T) {
	t.Parallel()
	token := func(claims string) string {
		return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
	}
	for text, want := range map[string]bool{
		token(`{"aud":["plumbline-agent"],"exp":1800000060}`):     true,
		token(`{"aud":"plumbline-agent","exp":1800000060}`):       true,
		token(`{"aud":["x","plumbline-agent"],"exp":1800000060}`): true,
		token(`{"aud":["plumbline-agent"],"exp":1700000000}`):     true, // by this clock; the API server decides
		token(`{"aud":["plumbline-agent"]}`):                      false,
		token(`{"aud":["https://kubernetes"],"exp":1800000060}`):  false,
		token(`{"exp":1800000060}`):                               false,
		"abc.def.ghi":                                             false,
		"nonsense":                                                false,
	} {
		if end, ok := meant(text, agent.Audience); ok != want || ok && end.Unix()%100 != 60 && end.Unix() != 1_700_000_000 {
			t.Errorf("%s: %v, %v", text, end, ok)
		}
	}
}

func FuzzMeant(f *testing.F) {
	f.Add("e30.e30.c2ln")
	f.Fuzz(func(_ *testing.T, token string) { meant(token, agent.Audience) })
}

// A reviewerOf is an API server with one good token.
type reviewerOf struct {
	genuine  func(token string) (bool, error)
	reviews  int
	audience string
	err      error
}

func (r *reviewerOf) Genuine(_ context.Context, token string) (bool, error) { return r.genuine(token) }

func (r *reviewerOf) Authenticate(_ context.Context, _, audience string) (any, bool, error) {
	r.reviews++
	return "somebody", audience == r.audience, r.err
}

func (r *reviewerOf) Authorize(_ context.Context, _ any, verb, _, _, _, name string) (bool, error) {
	return verb == "get" && name == "n1", nil
}

// A token is good only with the key that its audience names, and only for the request that is
// signed with it; what is refused without the API server costs it nothing.
func TestDoor(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	caller, other := agent.NewCaller(), agent.NewCaller()
	review := &reviewerOf{audience: caller.Audience(), genuine: func(string) (bool, error) { return true, nil }}
	token := "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"aud":[%q],"exp":1800000600}`, caller.Audience())) + ".c2ln"
	gate := func() http.Handler {
		review.reviews = 0
		return New(review, "n1", Right{Group: agent.Group, Resource: agent.Resource, Name: "n1"}, func() time.Time { return at }).Wrap("get", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	}
	send := func(h http.Handler, head http.Header, path string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header = head
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	good := caller.Headers(token, "n1", http.MethodGet, "v1/tables", map[string][]string{"table": {"a", "b"}}, nil)
	const path = "/v1/tables?table=a&table=b"
	h := gate()
	for range 3 {
		if code := send(h, good, path); code != http.StatusOK || review.reviews != 1 {
			t.Errorf("a good request: %d after %d reviews", code, review.reviews)
		}
	}
	at = at.Add(time.Hour) // the node's clock is wrong: the API server judges the token, and its answer is kept
	h = gate()
	for range 3 {
		if code := send(h, good, path); code != http.StatusOK || review.reviews != 1 {
			t.Errorf("a clock that is ahead: %d after %d reviews", code, review.reviews)
		}
	}
	at = at.Add(-time.Hour)
	unsigned := http.Header{agent.Header: {token}}
	for name, c := range map[string]struct {
		head http.Header
		path string
		code int
	}{
		"no token":              {http.Header{}, path, 401},
		"unsigned":              {unsigned, path, 403},
		"signed for a node":     {caller.Headers(token, "n2", http.MethodGet, "v1/tables", map[string][]string{"table": {"a", "b"}}, nil), path, 403},
		"signed by another key": {other.Headers(token, "n1", http.MethodGet, "v1/tables", map[string][]string{"table": {"a", "b"}}, nil), path, 403},
		"another path":          {good, "/v1/logs?table=a&table=b", 403},
		"another query":         {good, "/v1/tables?table=a", 403},
		"another method":        {caller.Headers(token, "n1", http.MethodPost, "v1/tables", map[string][]string{"table": {"a", "b"}}, nil), path, 403},
		"another body":          {caller.Headers(token, "n1", http.MethodGet, "v1/tables", map[string][]string{"table": {"a", "b"}}, []byte("x")), path, 403},
	} {
		h := gate()
		if code := send(h, c.head, c.path); code != c.code || review.reviews != 0 {
			t.Errorf("%s: %d, want %d; %d reviews", name, code, c.code, review.reviews)
		}
	}
	review.genuine = func(string) (bool, error) { return false, nil }
	if code := send(gate(), good, path); code != http.StatusForbidden || review.reviews != 0 {
		t.Errorf("a forged token: %d after %d reviews", code, review.reviews)
	}
	review.genuine = func(string) (bool, error) { return false, errors.New("soon") }
	if code := send(gate(), good, path); code != http.StatusServiceUnavailable || review.reviews != 0 {
		t.Errorf("a token of an unknown key: %d after %d reviews", code, review.reviews)
	}
}

// One address can use up its own budget only.
func TestBudgetPerSource(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := newSources(func() time.Time { return now })
	bad, good := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	count := func(from netip.Addr) (n int) {
		for range 1000 {
			if done, ok := s.review(from); ok {
				n++
				done()
			}
		}
		return n
	}
	if n := count(bad); n != maxBurst {
		t.Errorf("%d reviews", n)
	}
	now = now.Add(2 * time.Second)
	if n := count(bad); n != 2*perSecond {
		t.Errorf("%d reviews after two seconds", n)
	}
	if n := count(good); n != maxBurst {
		t.Errorf("another address: %d", n)
	}
	now = now.Add(-time.Hour) // a clock that is set back gives nothing, and takes nothing
	if n := count(bad); n != 0 {
		t.Errorf("%d reviews in the past", n)
	}
	third := netip.MustParseAddr("10.0.0.3")
	for range maxReviews {
		if _, ok := s.review(third); !ok {
			t.Error("refused below the limit")
		}
	}
	if _, ok := s.review(third); ok {
		t.Errorf("more than %d at a time", maxReviews)
	}
	ip := netip.MustParseAddr("10.1.0.0")
	for range maxSources {
		ip = ip.Next()
		if done, ok := s.review(ip); ok {
			done()
		}
	}
	if len(s.by) > maxSources {
		t.Errorf("%d addresses are remembered", len(s.by))
	}
	if _, ok := s.review(netip.MustParseAddr("10.9.0.1")); ok {
		t.Error("an address beyond the limit")
	}
	now = now.Add(2 * time.Hour)
	if _, ok := s.review(netip.MustParseAddr("10.9.0.1")); !ok {
		t.Error("addresses are never forgotten")
	}
}

func TestSourceOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.0.0.1:99": "10.0.0.1", "[::ffff:10.0.0.1]:99": "10.0.0.1", "[fd00::1:2:3:4]:99": "fd00::",
		"[fe80::1%eth0]:99": "fe80::", "@": "invalid IP",
	} {
		if got := sourceOf(text).String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
