package agent

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// A Caller is one run of a program that asks agents. Each agent sees the token that it is sent,
// and could use it at another agent. So a token is of no use without the caller's private key:
// the token's audience names the public key, and each request is signed with it, for one node.
type Caller struct{ key ed25519.PrivateKey }

// NewCaller returns a caller with a new key.
func NewCaller() *Caller {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return &Caller{key}
}

// Audience is the audience of the caller's tokens.
func (c *Caller) Audience() string {
	public, _ := c.key.Public().(ed25519.PublicKey)
	return audienceOf(public)
}

func audienceOf(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return Audience + "/" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// Headers of a request, beside that of the token.
const (
	headerKey       = "Plumbline-Key"
	headerSignature = "Plumbline-Signature"
	headerNonce     = "Plumbline-Nonce"
)

// A nonce makes each request another one: who sees its bytes cannot send them again.
const (
	nonceSize = 16
	maxNonce  = 64
)

// NonceOf returns the nonce of a request; empty if it has none that is long enough.
func NonceOf(r *http.Request) string {
	if n := r.Header.Get(headerNonce); len(n) >= nonceSize && len(n) <= maxNonce {
		return n
	}
	return ""
}

// Headers are the headers of one request to the agent of a node.
func (c *Caller) Headers(token, node, method, path string, query url.Values, body []byte) http.Header {
	public, _ := c.key.Public().(ed25519.PublicKey)
	random := make([]byte, nonceSize)
	_, _ = rand.Read(random) // it does not fail
	nonce := base64.RawURLEncoding.EncodeToString(random)
	return http.Header{
		Header:          {token},
		headerKey:       {base64.RawURLEncoding.EncodeToString(public)},
		headerNonce:     {nonce},
		headerSignature: {base64.RawURLEncoding.EncodeToString(ed25519.Sign(c.key, requestText(node, method, path, nonce, query, body)))},
	}
}

// IntendedAudience returns the audience that the token of a request must have, by the key in its
// headers alone: whether the request is signed with it, AudienceOf says.
func IntendedAudience(node string, r *http.Request) (string, error) {
	key, err := base64.RawURLEncoding.DecodeString(r.Header.Get(headerKey))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return "", notSigned(node)
	}
	return audienceOf(key), nil
}

func notSigned(node string) error {
	return fmt.Errorf("the request is not signed by its caller for %s; an older plumbline does not sign: upgrade it", node)
}

// AudienceOf returns the audience that the token of a request to the agent of this node must
// have; an error if the request is not signed for it.
func AudienceOf(node string, r *http.Request, body []byte) (string, error) {
	key, err1 := base64.RawURLEncoding.DecodeString(r.Header.Get(headerKey))
	signature, err2 := base64.RawURLEncoding.DecodeString(r.Header.Get(headerSignature))
	nonce := NonceOf(r)
	if err1 != nil || err2 != nil || len(key) != ed25519.PublicKeySize || nonce == "" ||
		!ed25519.Verify(key, requestText(node, r.Method, r.URL.Path, nonce, r.URL.Query(), body), signature) {
		return "", notSigned(node)
	}
	return audienceOf(key), nil
}

func requestText(node, method, path, nonce string, query url.Values, body []byte) []byte {
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, "plumbline request v2\n%q %q %q %q %q %x", node, method, "/"+strings.TrimPrefix(path, "/"), nonce, query.Encode(), sum)
}
