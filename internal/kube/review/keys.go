package review

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	_ "crypto/sha256" // RS256, ES256
	_ "crypto/sha512" // RS384 and longer
	"encoding/base64"
	"math/big"
)

// A keySet is the API server's JSON Web Key Set (RFC 7517).
type keySet struct {
	Keys []struct {
		Kid, Kty, Crv, N, E, X, Y string
	} `json:"keys"`
}

// maxKeys bounds how many keys are used; an API server has a few.
const maxKeys = 64

// keys returns the keys by name. A key of a kind that the API server does not sign with is left
// out: its tokens then count as not genuine.
func (s *keySet) keys() map[string]crypto.PublicKey {
	out := map[string]crypto.PublicKey{}
	for i := range s.Keys[:min(len(s.Keys), maxKeys)] {
		k := &s.Keys[i]
		switch k.Kty {
		case "RSA":
			n, e := number(k.N), number(k.E)
			if n != nil && n.BitLen() >= 2048 && n.BitLen() <= 8192 && e != nil && e.IsInt64() && e.Int64() > 2 && e.Int64() < 1<<31 {
				out[k.Kid] = &rsa.PublicKey{N: n, E: int(e.Int64())}
			}
		case "EC":
			if c := curves[k.Crv]; c != nil {
				if key := point(c, k.X, k.Y); key != nil {
					out[k.Kid] = key
				}
			}
		}
	}
	return out
}

var curves = map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}

func number(text string) *big.Int {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) == 0 || len(b) > 1024 {
		return nil
	}
	return new(big.Int).SetBytes(b)
}

// point returns the public key if the point is on the curve.
func point(c elliptic.Curve, x, y string) *ecdsa.PublicKey {
	bx, by := number(x), number(y)
	size := (c.Params().BitSize + 7) / 8
	if bx == nil || by == nil || len(bx.Bytes()) > size || len(by.Bytes()) > size {
		return nil
	}
	b := make([]byte, 1+2*size)
	b[0] = 4
	bx.FillBytes(b[1 : 1+size])
	by.FillBytes(b[1+size:])
	key, err := ecdsa.ParseUncompressedPublicKey(c, b)
	if err != nil {
		return nil
	}
	return key
}

// hashes are the algorithms of RFC 7518 that the API server signs with.
var hashes = map[string]crypto.Hash{
	"RS256": crypto.SHA256, "RS384": crypto.SHA384, "RS512": crypto.SHA512,
	"ES256": crypto.SHA256, "ES384": crypto.SHA384, "ES512": crypto.SHA512,
}

// signedBy reports whether the text has this signature of the key.
func signedBy(key crypto.PublicKey, alg, text string, signature []byte) bool {
	hash, ok := hashes[alg]
	if !ok {
		return false
	}
	h := hash.New()
	h.Write([]byte(text))
	sum := h.Sum(nil)
	switch k := key.(type) {
	case *rsa.PublicKey:
		return alg[0] == 'R' && rsa.VerifyPKCS1v15(k, hash, sum, signature) == nil
	case *ecdsa.PublicKey:
		size := (k.Curve.Params().BitSize + 7) / 8
		if alg[0] != 'E' || len(signature) != 2*size {
			return false
		}
		return ecdsa.Verify(k, sum, new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:]))
	default:
		return false
	}
}
