package lab

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// A lab runs for hours; its certificates are valid for a week.
const certLife = 7 * 24 * time.Hour

// An authority signs certificates and writes them as files into its directory.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newAuthority creates a CA, with ca.crt in dir.
func newAuthority(dir, name string) (*authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make CA %s: %w", name, err)
	}
	a := &authority{dir: dir}
	t := template(pkix.Name{CommonName: name})
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	a.cert = t
	key, err := a.issue("ca", t)
	if err != nil {
		return nil, err
	}
	a.key = key
	return a, nil
}

// identity is the subject of a certificate and its server names.
type identity struct {
	user   string
	groups []string
	dns    []string
	ips    []netip.Addr
}

// sign writes NAME.crt and NAME.key.
func (a *authority) sign(name string, id identity) error {
	t := template(pkix.Name{CommonName: id.user, Organization: id.groups})
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	t.DNSNames = id.dns
	for _, ip := range id.ips {
		t.IPAddresses = append(t.IPAddresses, net.IP(ip.AsSlice()))
	}
	_, err := a.issue(name, t)
	return err
}

func (a *authority) path(file string) string { return filepath.Join(a.dir, file) }

func (a *authority) issue(name string, t *x509.Certificate) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key %s: %w", name, err)
	}
	signer := a.key
	if signer == nil {
		signer = key // the authority itself
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("sign %s: %w", name, err)
	}
	if err := writePEM(a.path(name+".crt"), "CERTIFICATE", der); err != nil {
		return nil, err
	}
	return key, writeKey(a.path(name+".key"), key)
}

func template(subject pkix.Name) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(certLife),
	}
}

// newSigningKey writes the key pair that signs service account tokens.
func newSigningKey(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make service account key: %w", err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encode service account key: %w", err)
	}
	if err := writePEM(filepath.Join(dir, "sa.pub"), "PUBLIC KEY", der); err != nil {
		return err
	}
	return writeKey(filepath.Join(dir, "sa.key"), key)
}

func writeKey(path string, key crypto.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return writePEM(path, "PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// loadAuthority returns an authority that newAuthority created before.
func loadAuthority(dir string) (*authority, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key"))
	if err != nil {
		return nil, fmt.Errorf("load CA: %w", err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("load CA: key is a %T", pair.PrivateKey)
	}
	return &authority{dir: dir, cert: pair.Leaf, key: key}, nil
}
