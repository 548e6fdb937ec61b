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

// maxOnNode is more pods than ever are on one node.
const maxOnNode = 2000

// maxCalico is more nodes than a cluster has, and calicoPage how many of their pods are read at a time.
const (
	maxCalico  = 20_000
	calicoPage = 200
)

// PodsOn lists all pods that are bound to the node.
func (s PodStore) PodsOn(ctx context.Context, node string) ([]model.Object, error) {
	if err := kube.CheckNames(node); err != nil {
		return nil, err
	}
	return s.pods(ctx, "on "+node, url.Values{"fieldSelector": {"spec.nodeName=" + node}, "limit": {strconv.Itoa(maxOnNode)}}, maxOnNode)
}

// CalicoNodes lists the pods with the label of calico-node, page by page.
func (s PodStore) CalicoNodes(ctx context.Context) ([]model.Object, error) {
	query := url.Values{"labelSelector": {"k8s-app=calico-node"}, "limit": {strconv.Itoa(calicoPage)}}
	var out []model.Object
	for {
		page, next, err := s.page(ctx, "of calico-node", query)
		out = append(out, page...)
		switch {
		case err != nil:
			return nil, err
		case next == "":
			return out, nil
		case len(out) > maxCalico:
			return nil, fmt.Errorf("there are more than %d pods of calico-node", maxCalico)
		}
		query.Set("continue", next)
	}
}

// PodsWith lists the pods whose first address in status.podIP is this one. The API server can
// select by the first address only: pods with it as a second address are not found.
func (s PodStore) PodsWith(ctx context.Context, ip netip.Addr) ([]model.Object, error) {
	return s.pods(ctx, "with "+ip.String(), url.Values{"fieldSelector": {"status.podIP=" + ip.Unmap().String()}, "limit": {strconv.Itoa(maxSharing)}}, maxSharing)
}

// pods lists the pods of a query; more than most are an error.
func (s PodStore) pods(ctx context.Context, which string, query url.Values, most int) ([]model.Object, error) {
	out, next, err := s.page(ctx, which, query)
	if err == nil && next != "" {
		err = fmt.Errorf("there are more than %d pods %s", most, which)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// page lists one page of the pods of a query; next is where the rest begins.
func (s PodStore) page(ctx context.Context, which string, query url.Values) (out []model.Object, next string, err error) {
	a, err := s.Writer.list(ctx, "/api/v1/pods", query)
	if err != nil {
		return nil, "", err
	}
	var all struct {
		Metadata struct{ Continue string }
		Items    []json.RawMessage
	}
	if err := json.Unmarshal(a.body, &all); err != nil {
		return nil, "", fmt.Errorf("pods %s: %w", which, err)
	}
	for _, b := range all.Items {
		o, err := parsePod(b)
		if err != nil {
			return nil, "", fmt.Errorf("pods %s: %w", which, err)
		}
		out = append(out, o)
	}
	return out, all.Metadata.Continue, nil
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
