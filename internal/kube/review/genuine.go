package review

import (
	"context"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
)

// keysPath is where the API server publishes the keys that it signs tokens with. Every service
// account may read it.
const (
	keysPath = "/openid/v1/jwks"
	keysType = "application/jwk-set+json" // the API server answers 406 to any other
)

// keysEvery is how long keys are used before they are read again for a token with an unknown
// one: the API server changes keys rarely, and a caller can name any.
const keysEvery = 10 * time.Second

// A keyring has the published keys. mu guards keys and read; it is not held while they are
// read, so that callers with a known key do not wait for those with an unknown one.
type keyring struct {
	mu   sync.Mutex
	keys map[string]crypto.PublicKey // by kid; nil: could not be read
	read time.Time                   // when reading them began last
}

var errKeysSoon = errors.New("the token's key is not known yet; retry")

// Genuine reports whether a token is signed with a key that the API server publishes. If the
// keys cannot be read every token counts as genuine: this is a filter before Authenticate, and
// never replaces it.
func (r *Reviewer) Genuine(ctx context.Context, token string) (bool, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return false, nil
	}
	var head struct{ Alg, Kid string }
	b, err := base64.RawURLEncoding.DecodeString(parts[0])
	if err != nil || json.Unmarshal(b, &head) != nil {
		return false, nil
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return false, nil
	}
	key, err := r.tokenKey(ctx, head.Kid)
	if key == nil || err != nil {
		return err == nil, err
	}
	return signedBy(key, head.Alg, parts[0]+"."+parts[1], signature), nil
}

// A noKey stands for a key that the API server does not publish.
type noKey struct{}

// tokenKey returns the key of this name; nil if the keys could not be read; noKey if they were
// and it is not among them.
func (r *Reviewer) tokenKey(ctx context.Context, kid string) (crypto.PublicKey, error) {
	key, due, err := r.keyring.find(kid)
	if !due {
		return key, err
	}
	var answer keySet
	if err := r.get(ctx, keysPath, keysType, &answer); err == nil {
		r.keyring.put(answer.keys())
	}
	if key, _, err = r.keyring.find(kid); errors.Is(err, errKeysSoon) {
		return noKey{}, nil
	}
	return key, err
}

// find returns a key; due means that it is not known and that the caller must read the keys.
func (k *keyring) find(kid string) (key crypto.PublicKey, due bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := monotonic()
	switch key, ok := k.keys[kid]; {
	case ok:
		return key, false, nil
	case k.read.IsZero() || now.Sub(k.read) >= keysEvery:
		k.read = now
		return nil, true, nil
	case k.keys == nil:
		return nil, false, nil
	default:
		return nil, false, errKeysSoon
	}
}

func (k *keyring) put(keys map[string]crypto.PublicKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys = keys
}

func monotonic() time.Time { return time.Now() } //nolint:forbidigo // only used for durations
