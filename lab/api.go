package lab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// newClient returns a client of the lab's API server, as administrator. Manifests are
// applied with kubectl; this client is for waiting, reading and bulk requests.
func newClient() (*http.Client, error) {
	pki := filepath.Join(stateDir, "pki")
	pair, err := tls.LoadX509KeyPair(filepath.Join(pki, "admin.crt"), filepath.Join(pki, "admin.key"))
	if err != nil {
		return nil, fmt.Errorf("read the administrator's certificate: %w", err)
	}
	ca, err := os.ReadFile(filepath.Join(pki, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the lab's CA: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &http.Client{
		Timeout:   time.Minute,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 16},
	}, nil
}

// maxAnswer bounds how much of one response is read.
const maxAnswer = 64 << 20

// ErrAnswer means that the API server refused the request; the error text has the
// status.
var ErrAnswer = errors.New("the API server refused the request")

// Do sends a request to the API server; body is JSON. A refusal is ErrAnswer.
func (l *Lab) Do(ctx context.Context, method, path, body string) ([]byte, error) {
	if _, ok := Inside(); !ok {
		return nil, ErrOutside
	}
	l.once.Do(func() { l.http, l.httpErr = newClient() })
	if l.httpErr != nil {
		return nil, l.httpErr
	}
	q, err := http.NewRequestWithContext(ctx, method, l.server()+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	r, err := l.http.Do(q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if r.StatusCode/100 != 2 {
		return b, fmt.Errorf("%s %s: %s: %w", method, path, r.Status, ErrAnswer)
	}
	return b, nil
}

// Get reads the object or list at an API path into v.
func (l *Lab) Get(ctx context.Context, path string, v any) error {
	b, err := l.Do(ctx, http.MethodGet, path, "")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}
