//go:build e2e

package rebuild

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"plumbline.dev/plumbline/lab"
)

// An api is a client of the API server, as administrator, with a longer timeout than the
// lab's: the server is slow with so many objects.
type api struct {
	config *rest.Config
	http   *http.Client
}

const answerWithin = 2 * time.Minute

func connect(t *testing.T, l *lab.Lab) api {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return api{cfg, client}
}

// open sends a request; the caller must close the response.
func (a api) open(ctx context.Context, method, path, accept string, body []byte) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, method, a.config.Host+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", accept)
	return a.http.Do(q)
}

// ask sends a request and reads the response.
func (a api) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	resp, err := a.open(ctx, method, path, "application/json", body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 256<<20))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s: %.300s", method, path, resp.Status, b)
	}
	return b, nil
}
