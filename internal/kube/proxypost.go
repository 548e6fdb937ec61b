package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"plumbline.dev/plumbline/internal/execute"
)

// ProxyPost sends a change to an agent through the API server. The errors are those of
// Write. The context sets the timeout.
func (c *Client) ProxyPost(ctx context.Context, pod AgentPod, path, token string, body []byte) (io.ReadCloser, error) {
	at, err := proxyPath(pod, path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", execute.ErrRefused, err)
	}
	w, err := c.Writer()
	if err != nil {
		return nil, err
	}
	head := http.Header{agentHeader: {token}, "Content-Type": {acceptJSON}}
	a, err := w.write(ctx, request{method: http.MethodPost, path: at, accept: "*/*", header: head, body: body})
	if err == nil {
		return io.NopCloser(bytes.NewReader(a.body)), nil
	}
	if token != "" && strings.Contains(err.Error(), token) {
		err = errors.New("its answer contains the token that it was sent")
	}
	return nil, fmt.Errorf("send a change to the agent of %s: %w", pod.Node, err)
}
