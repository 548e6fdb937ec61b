package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// A key signs what is published, as cosign and openssl verify it: ECDSA on P-256 over SHA-256, in
// ASN.1. The signature of the same bytes is always the same (RFC 6979).
type key struct{ private *ecdsa.PrivateKey }

func readKey(name string) (*key, error) {
	text, err := os.ReadFile(name) //nolint:gosec // the user's
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s has no PEM block", name)
	}
	if k, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return onP256(name, k)
	}
	any, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: not an unencrypted private key: %w", name, err)
	}
	k, ok := any.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New(name + ": not an EC key")
	}
	return onP256(name, k)
}

func onP256(name string, k *ecdsa.PrivateKey) (*key, error) {
	if k.Curve != elliptic.P256() {
		return nil, errors.New(name + ": not a key on the curve P-256")
	}
	return &key{k}, nil
}

func (k *key) public() []byte {
	b, err := x509.MarshalPKIXPublicKey(&k.private.PublicKey)
	if err != nil {
		panic(err) // a curve that was just read
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: b})
}

func (k *key) sign(b []byte) ([]byte, error) {
	sum := sha256.Sum256(b)
	return k.private.Sign(nil, sum[:], crypto.SHA256) // without randomness: deterministic
}

// blob is the signature of a file, as cosign verify-blob reads it.
func (k *key) blob(b []byte) ([]byte, error) {
	sig, err := k.sign(b)
	return []byte(base64.StdEncoding.EncodeToString(sig)), err
}

const statementType = "application/vnd.in-toto+json"

// An envelope is DSSE's: the signature covers the type and the payload.
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

func (k *key) envelope(payload []byte) ([]byte, error) {
	sig, err := k.sign(covered(statementType, payload))
	if err != nil {
		return nil, err
	}
	return json.Marshal(envelope{
		PayloadType: statementType, Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []signature{{Sig: base64.StdEncoding.EncodeToString(sig)}},
	})
}

// covered is DSSE's pre-authentication encoding.
func covered(kind string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
}
