package agent

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"

	"plumbline.dev/plumbline/internal/model"
)

// A SignedVerification is a verification with the signature of the agent that made it. The API
// server's proxy does not verify the agent's certificate, so whoever is between the API server
// and the node can answer in the agent's place: only the signature shows who answered.
type SignedVerification struct {
	Body      json.RawMessage `json:"body"` // a verificationBody; the signature covers these bytes
	Signature []byte          `json:"signature"`
}

// A verificationBody is what is signed. The nonce of the request makes an earlier answer
// worthless; no clock is needed for it.
type verificationBody struct {
	Nonce string `json:"nonce"`
	model.Verification
}

// verificationContext separates these signatures from others of the same key.
const verificationContext = "plumbline verification v1\x00"

// MaxNonce bounds the nonce of a request.
const MaxNonce = 64

// SignVerification signs the answer to the request with this nonce.
func SignVerification(key ed25519.PrivateKey, nonce string, w *model.Verification) (SignedVerification, error) {
	body, err := json.Marshal(verificationBody{nonce, *w})
	if err != nil {
		return SignedVerification{}, err
	}
	return SignedVerification{Body: body, Signature: ed25519.Sign(key, signed(body))}, nil
}

var (
	errUnsigned = errors.New("the answer is not signed with the key that the agent published")
	errReplayed = errors.New("the answer belongs to another request")
)

// open returns the verification if it is signed with the key and answers the request.
func (s *SignedVerification) open(key ed25519.PublicKey, nonce string) (model.Verification, error) {
	if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, signed(s.Body), s.Signature) {
		return model.Verification{}, errUnsigned
	}
	var b verificationBody
	if err := json.Unmarshal(s.Body, &b); err != nil {
		return model.Verification{}, fmt.Errorf("read the answer: %w", err)
	}
	if nonce == "" || b.Nonce != nonce {
		return model.Verification{}, errReplayed
	}
	return b.Verification, nil
}

func signed(body []byte) []byte { return bytes.Join([][]byte{[]byte(verificationContext), body}, nil) }
