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
	"time"
)

// client speaks to the lab's API server as administrator. It is for waiting and
// looking; what changes the cluster goes through kubectl.
func (l *Lab) client() (*http.Client, error) {
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
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true},
	}, nil
}

// maxAnswer bounds what is read of one answer.
const maxAnswer = 64 << 20

// get asks the API server for a path.
func (l *Lab) get(ctx context.Context, path string) ([]byte, error) {
	if _, ok := Inside(); !ok {
		return nil, ErrOutside
	}
	c, err := l.client()
	if err != nil {
		return nil, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, l.server()+path, nil)
	if err != nil {
		return nil, err
	}
	r, err := c.Do(q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	if r.StatusCode != http.StatusOK {
		return b, fmt.Errorf("GET %s: %s: %w", path, r.Status, errAnswer)
	}
	return b, nil
}

var errAnswer = errors.New("the API server said no")

// Get reads the object or list at an API path into v.
func (l *Lab) Get(ctx context.Context, path string, v any) error {
	b, err := l.get(ctx, path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}
