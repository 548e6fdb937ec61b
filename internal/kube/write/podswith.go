package write

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
)

var _ execute.Pods = PodStore{}

// maxSharing is more pods than ever share an address of a pool.
const maxSharing = 100

// PodsWith lists the pods whose first address in status.podIP is this one. The API server can
// select by the first address only: pods with it as a second address are not found.
func (s PodStore) PodsWith(ctx context.Context, ip netip.Addr) ([]model.Object, error) {
	query := url.Values{"fieldSelector": {"status.podIP=" + ip.Unmap().String()}, "limit": {strconv.Itoa(maxSharing)}}
	a, err := s.Writer.list(ctx, "/api/v1/pods", query)
	if err != nil {
		return nil, err
	}
	var all struct {
		Metadata struct{ Continue string }
		Items    []json.RawMessage
	}
	if err := json.Unmarshal(a.body, &all); err != nil {
		return nil, fmt.Errorf("pods with %s: %w", ip, err)
	}
	if all.Metadata.Continue != "" {
		return nil, fmt.Errorf("more than %d pods have %s", maxSharing, ip)
	}
	var out []model.Object
	for _, b := range all.Items {
		o, err := parsePod(b)
		if err != nil {
			return nil, fmt.Errorf("pods with %s: %w", ip, err)
		}
		out = append(out, o)
	}
	return out, nil
}

// list reads a list, live.
func (w *Writer) list(ctx context.Context, path string, query url.Values) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, w.client.Timeout)
	defer cancel()
	a, err := w.do(ctx, kube.Request{Method: http.MethodGet, Path: path, Query: query, Accept: kube.AcceptJSON})
	if err == nil && a.code != http.StatusOK {
		err = fmt.Errorf("%d: %s", a.code, words(a.body))
	}
	if err != nil {
		return answer{}, fmt.Errorf("list %s: %w", path, err)
	}
	return a, nil
}
