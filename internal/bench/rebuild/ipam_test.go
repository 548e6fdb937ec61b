//go:build e2e

package rebuild

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

const calicoPath = "/apis/crd.projectcalico.org/v1/"

// An object is a custom resource of Calico, as the API server returns it: the test reads
// and writes IPAM without the product.
type object[S any] struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Spec       S              `json:"spec"`
}

func (o *object[S]) name() string { return fmt.Sprint(o.Metadata["name"]) }

type blockSpec struct {
	Affinity    string            `json:"affinity"`
	Allocations []*int            `json:"allocations"`
	Attributes  []attribute       `json:"attributes"`
	CIDR        string            `json:"cidr"`
	Deleted     bool              `json:"deleted"`
	Sequence    uint64            `json:"sequenceNumber"`
	SequenceOf  map[string]uint64 `json:"sequenceNumberForAllocation"`
	Strict      bool              `json:"strictAffinity"`
	Unallocated []int             `json:"unallocated"`
}

type attribute struct {
	Handle    string            `json:"handle_id"`
	Secondary map[string]string `json:"secondary"`
}

type handleSpec struct {
	Block   map[string]int `json:"block"`
	Deleted bool           `json:"deleted"`
	ID      string         `json:"handleID"`
}

type (
	block  = object[blockSpec]
	handle = object[handleSpec]
)

// An ipam has all of Calico's IPAM records that are used here.
type ipam struct {
	blocks  map[string]*block  // by node
	handles map[string]*handle // by ID
}

func (c *cluster) read(t *testing.T) *ipam {
	t.Helper()
	l := &ipam{blocks: map[string]*block{}, handles: map[string]*handle{}}
	list(t, c, "ipamblocks", func(b *block) { l.blocks[strings.TrimPrefix(b.Spec.Affinity, "host:")] = b })
	list(t, c, "ipamhandles", func(h *handle) { l.handles[h.Spec.ID] = h })
	return l
}

// list reads all objects of a kind, page by page.
func list[S any](t *testing.T, c *cluster, kind string, each func(*object[S])) {
	t.Helper()
	for from := ""; ; {
		b, err := c.ask(t.Context(), http.MethodGet, calicoPath+kind+"?limit=1000&continue="+url.QueryEscape(from), nil)
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Metadata struct{ Continue string }
			Items    []*object[S]
		}
		if err := json.Unmarshal(b, &page); err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Items {
			each(o)
		}
		if from = page.Metadata.Continue; from == "" {
			return
		}
	}
}

// put updates an object; create creates one.
func put[S any](ctx context.Context, c *cluster, kind string, o *object[S]) error {
	return send(ctx, c, http.MethodPut, kind+"/"+o.name(), o)
}

func create[S any](ctx context.Context, c *cluster, kind string, o *object[S]) error {
	return send(ctx, c, http.MethodPost, kind, o)
}

func send(ctx context.Context, c *cluster, method, path string, o any) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = c.ask(ctx, method, calicoPath+path, b)
	return err
}

func (c *cluster) remove(ctx context.Context, kind, name string) error {
	_, err := c.ask(ctx, http.MethodDelete, calicoPath+kind+"/"+name, nil)
	return err
}

// ordinal is the index of an address in the block.
func (b *blockSpec) ordinal(ip netip.Addr) int {
	first := netip.MustParsePrefix(b.CIDR).Addr().As4()
	return int(ip.As4()[3]) - int(first[3])
}

// holder is the handle of an ordinal; empty if it is free or its attribute index is
// invalid.
func (b *blockSpec) holder(ordinal int) string {
	if at := b.Allocations[ordinal]; at != nil && *at >= 0 && *at < len(b.Attributes) {
		return b.Attributes[*at].Handle
	}
	return ""
}

// held counts the allocations of each handle.
func (b *blockSpec) held() map[string]int {
	out := map[string]int{}
	for i := range b.Allocations {
		if h := b.holder(i); h != "" {
			out[h]++
		}
	}
	return out
}
