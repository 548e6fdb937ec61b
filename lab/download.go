package lab

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// Download reads a complete response of the API server and discards it: the minimum cost
// of a read, with which others are compared.
func (l *Lab) Download(ctx context.Context, path, accept string) (int64, error) {
	if _, ok := Inside(); !ok {
		return 0, ErrOutside
	}
	client, err := newClient()
	if err != nil {
		return 0, err
	}
	client.Timeout = 0 // the context has the deadline
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, l.server()+path, nil)
	if err != nil {
		return 0, err
	}
	q.Header.Set("Accept", accept)
	resp, err := client.Do(q)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s: %w", path, resp.Status, ErrAnswer)
	}
	return io.Copy(io.Discard, resp.Body)
}
