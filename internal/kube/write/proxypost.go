package write

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
)

// ProxyPost sends a change to an agent through the API server. The errors are those of
// Write. The context sets the timeout.
func (w *Writer) ProxyPost(ctx context.Context, pod kube.AgentPod, path string, head http.Header, body []byte) (io.ReadCloser, error) {
	at, err := kube.ProxyPath(pod, path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", execute.ErrRefused, err)
	}
	token := head.Get(kube.AgentHeader)
	head = head.Clone()
	head.Set("Content-Type", kube.AcceptJSON)
	a, err := w.write(ctx, kube.Request{Method: http.MethodPost, Path: at, Accept: "*/*", Header: head, Body: body})
	if err == nil {
		return io.NopCloser(bytes.NewReader(a.body)), nil
	}
	if token != "" && strings.Contains(err.Error(), token) {
		err = errors.New("its answer contains the token that it was sent")
	}
	return nil, fmt.Errorf("send a change to the agent of %s: %w", pod.Node, err)
}
