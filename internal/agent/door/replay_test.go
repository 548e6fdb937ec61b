package door

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
)

// everybody is an API server that has signed every token.
type everybody struct{}

func (everybody) Genuine(context.Context, string) (bool, error) { return true, nil }

func (everybody) Authenticate(context.Context, string, string) (any, bool, error) {
	return "x", true, nil
}

func (everybody) Authorize(context.Context, any, string, string, string, string, string) (bool, error) {
	return true, nil
}

// A request that somebody recorded is not answered again: one that changes something never, one
// that reads only within half a minute, because proxies repeat it.
func TestReplay(t *testing.T) {
	t.Parallel()
	now := time.Now() //nolint:forbidigo // the claims of a token are held against the clock
	done := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") })
	me := agent.NewCaller()
	claims := fmt.Appendf(nil, `{"aud":[%q],"exp":%d}`, me.Audience(), now.Add(10*time.Minute).Unix())
	token := base64.RawURLEncoding.EncodeToString([]byte(`{}`)) + "." + base64.RawURLEncoding.EncodeToString(claims) + ".x"
	for _, c := range []struct {
		method string
		later  time.Duration
		want   int
	}{
		{http.MethodPost, 0, http.StatusForbidden},
		{http.MethodPost, 9 * time.Minute, http.StatusForbidden},
		{http.MethodPost, -time.Minute, http.StatusForbidden},
		{http.MethodGet, 5 * time.Second, http.StatusOK},
		{http.MethodGet, time.Minute, http.StatusForbidden},
		{http.MethodGet, 9 * time.Minute, http.StatusForbidden},
	} {
		at := now
		door := New(everybody{}, "n1", Right{}, func() time.Time { return at }).Wrap("update", done)
		head := me.Headers(token, "n1", c.method, "v1/change", nil, nil)
		ask := func(change func(http.Header)) int {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), c.method, "/v1/change", http.NoBody)
			r.Header = head.Clone()
			if change != nil {
				change(r.Header)
			}
			door.ServeHTTP(w, r)
			return w.Code
		}
		if code := ask(nil); code != http.StatusOK {
			t.Errorf("%s: %d", c.method, code)
		}
		at = now.Add(c.later)
		if code := ask(nil); code != c.want {
			t.Errorf("%s again after %s: %d", c.method, c.later, code)
		}
		if code := ask(func(h http.Header) { h.Set("Plumbline-Nonce", "another nonce that nobody signed") }); code != http.StatusForbidden {
			t.Errorf("%s with another nonce: %d", c.method, code)
		}
		if code := ask(func(h http.Header) { h.Del("Plumbline-Nonce") }); code != http.StatusForbidden {
			t.Errorf("%s without a nonce: %d", c.method, code)
		}
		head = me.Headers(token, "n1", c.method, "v1/change", nil, nil)
		if code := ask(nil); code != http.StatusOK {
			t.Errorf("a new %s: %d", c.method, code)
		}
	}
}

// What is remembered is bounded, for each token and for all; what is over makes room.
func TestNoncesAreBounded(t *testing.T) {
	t.Parallel()
	n, now := newNonces(), time.Unix(1_700_000_000, 0)
	token := func(i int) [32]byte { return [32]byte{byte(i), byte(i >> 8)} }
	use := func(nonce string, of int, at time.Time) bool {
		_, room := n.use(nonce, http.MethodPost, token(of), at, at.Add(10*time.Minute))
		return room
	}
	for i := range maxNoncesOf {
		if !use(fmt.Sprint("greedy", i), 0, now) {
			t.Fatalf("the %dth is refused", i)
		}
	}
	if use("one more", 0, now) || !use("another's", 1, now) {
		t.Error("a greedy caller has more than a share, or keeps others out")
	}
	for i := 0; len(n.seen) < maxNonces; i++ {
		if !use(fmt.Sprint(i), 2+i/1000, now) {
			t.Fatalf("the %dth of others is refused", i)
		}
	}
	if use("more", 999, now) {
		t.Error("there is room for more than all")
	}
	if later := now.Add(time.Hour); !use("more", 999, later) || len(n.seen) != 1 || len(n.of) != 1 {
		t.Errorf("%d of %d tokens are remembered after an hour", len(n.seen), len(n.of))
	}
}
