package review

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// jwt is a token that the key signed.
func jwt(t *testing.T, key crypto.Signer, alg, kid string) string {
	t.Helper()
	text := b64(fmt.Appendf(nil, `{"alg":%q,"kid":%q}`, alg, kid)) + "." + b64([]byte(`{"aud":["x"]}`))
	h := hashes[alg].New()
	h.Write([]byte(text))
	if k, ok := key.(*ecdsa.PrivateKey); ok {
		r, s, err := ecdsa.Sign(rand.Reader, k, h.Sum(nil))
		if err != nil {
			t.Fatal(err)
		}
		size := (k.Curve.Params().BitSize + 7) / 8
		sig := make([]byte, 2*size)
		r.FillBytes(sig[:size])
		s.FillBytes(sig[size:])
		return text + "." + b64(sig)
	}
	sig, err := key.Sign(rand.Reader, h.Sum(nil), hashes[alg])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + b64(sig)
}

// A published is an API server that publishes keys.
type published struct {
	text  atomic.Pointer[string]
	reads atomic.Int32
}

func (p *published) put(text string) { p.text.Store(&text) }

func (p *published) reviewer(t *testing.T) *Reviewer {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		p.reads.Add(1)
		if q.Method != http.MethodGet || q.URL.Path != keysPath || q.Header.Get("Accept") != keysType || *p.text.Load() == "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, *p.text.Load())
	}))
	t.Cleanup(srv.Close)
	r, err := NewFor(&rest.Config{Host: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGenuine(t *testing.T) {
	t.Parallel()
	r1, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	e1, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	e2, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	forger, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	forgerRSA, _ := rsa.GenerateKey(rand.Reader, 2048)
	var p published
	jwks := fmt.Sprintf(`{"keys":[{"use":"sig","kty":"RSA","kid":"r1","alg":"RS256","n":%q,"e":"AQAB"},
{"kty":"EC","kid":"e1","crv":"P-256","x":%q,"y":%q},{"kty":"EC","kid":"e2","crv":"P-384","x":%q,"y":%q},
{"kty":"EC","kid":"off","crv":"P-256","x":"AQ","y":"AQ"},{"kty":"oct","kid":"oct","k":"AAAA"}]}`,
		b64(r1.N.Bytes()), b64(e1.X.FillBytes(make([]byte, 32))), b64(e1.Y.FillBytes(make([]byte, 32))), b64(e2.X.FillBytes(make([]byte, 48))), b64(e2.Y.FillBytes(make([]byte, 48))))
	p.put(jwks)
	r := p.reviewer(t)
	good := jwt(t, r1, "RS256", "r1")
	unsigned := b64([]byte(`{"alg":"none","kid":"r1"}`)) + "." + b64([]byte(`{}`)) + "."
	for _, c := range []struct {
		name, token string
		want        bool
	}{
		{"RSA", good, true},
		{"P-256", jwt(t, e1, "ES256", "e1"), true},
		{"P-384", jwt(t, e2, "ES384", "e2"), true},
		{"forged, RSA", jwt(t, forgerRSA, "RS256", "r1"), false},
		{"forged, EC", jwt(t, forger, "ES256", "e1"), false},
		{"another key", jwt(t, e1, "ES256", "e2"), false},
		{"another algorithm", jwt(t, e1, "ES256", "r1"), false},
		{"no algorithm", unsigned, false},
		{"other claims", strings.Replace(good, b64([]byte(`{"aud":["x"]}`)), b64([]byte(`{"aud":["y"]}`)), 1), false},
		{"nonsense", "abc", false},
		{"nothing", "..", false},
	} {
		if ok, err := r.Genuine(t.Context(), c.token); ok != c.want || err != nil {
			t.Errorf("%s: %v, %v", c.name, ok, err)
		}
	}
	if n := p.reads.Load(); n != 1 {
		t.Errorf("the keys were read %d times", n)
	}
	// Tokens that name other keys have the keys read again, rarely; meanwhile the caller retries.
	for range 100 {
		if ok, err := r.Genuine(t.Context(), jwt(t, forger, "ES256", rand.Text())); ok || !errors.Is(err, errKeysSoon) {
			t.Fatalf("%v, %v", ok, err)
		}
	}
	if n := p.reads.Load(); n != 1 {
		t.Errorf("the keys were read %d times", n)
	}
	p.put(strings.ReplaceAll(jwks, `"kid":"r1"`, `"kid":"r2"`))
	r.keyring.read = r.keyring.read.Add(-keysEvery)
	if ok, err := r.Genuine(t.Context(), jwt(t, r1, "RS256", "r2")); !ok || err != nil {
		t.Errorf("a new key: %v, %v", ok, err)
	}
	r.keyring.read = r.keyring.read.Add(-keysEvery)
	if ok, err := r.Genuine(t.Context(), good); ok || err != nil {
		t.Errorf("a key that was withdrawn: %v, %v", ok, err)
	}
}

// Without the keys nothing is filtered, and they are asked for rarely.
func TestGenuineWithoutKeys(t *testing.T) {
	t.Parallel()
	var p published
	p.put("")
	r := p.reviewer(t)
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	token := jwt(t, key, "ES256", "k")
	for range 50 {
		if ok, err := r.Genuine(t.Context(), token); !ok || err != nil {
			t.Fatalf("%v, %v", ok, err)
		}
	}
	if n := p.reads.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if keysEvery < time.Second {
		t.Errorf("the API server is asked every %s", keysEvery)
	}
}

func FuzzKeySet(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"},{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}]}`), "e30.e30.c2ln")
	f.Fuzz(func(t *testing.T, b []byte, token string) {
		var s keySet
		if json.Unmarshal(b, &s) != nil {
			return
		}
		for _, key := range s.keys() {
			for alg := range hashes {
				if signedBy(key, alg, token, []byte(token)) {
					t.Errorf("%q is a signature", token)
				}
			}
		}
	})
}
