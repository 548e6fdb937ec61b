//go:build e2e

package agents

import (
	"context"
	"crypto/sha1" //nolint:gosec // Felix derives MACs with it
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"plumbline.dev/plumbline/internal/calico"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// connect gives all hosts the ways to each other that Calico's records say: two routes or entries for every
// other node, and a route for each of its blocks. Agents tell the sums of them; 5,000 times 15,000 rows
// would not fit into this machine.
func (c *cluster) connect(t *testing.T, client *kube.Client, nodes []model.Node) {
	t.Helper()
	crds, err := calico.FindCRDs(t.Context(), client, func(context.Context) (string, error) { return "", nil })
	if err != nil {
		t.Fatal(err)
	}
	var b model.Builder
	for _, x := range crds.Collectors() {
		if _, err := x.Collect(t.Context(), &b); err != nil && !errors.Is(err, observe.ErrNotThere) {
			t.Fatal(err)
		}
	}
	tunnels, all := map[string]netip.Addr{}, &ways{}
	own := map[string]*ways{}
	for i := range nodes {
		n := &nodes[i]
		w, tunnel := &ways{}, n.Tunnels[0].IP
		tunnels[n.Name], own[n.Name] = tunnel, w
		sum := sha1.Sum([]byte(n.Name)) //nolint:gosec // see above
		w[1].Add(model.RouteHash(single(tunnel), netip.Addr{}))
		w[2].Add(model.NeighbourHash(tunnel, fmt.Sprintf("66:%02x:%02x:%02x:%02x:%02x", sum[0], sum[1], sum[2], sum[3], sum[4]), n.Addresses[0].String()))
	}
	for _, block := range b.Snapshot().Blocks {
		if w := own[block.Node()]; w != nil {
			w[0].Add(model.RouteHash(block.CIDR, tunnels[block.Node()]))
		}
	}
	for _, w := range own {
		for k := range w {
			all[k].Plus(&w[k])
		}
	}
	for _, h := range c.hosts {
		h.tunnel = tunnels[h.name]
		for k, kind := range []string{"via", "link", "neighbour"} {
			sums := all[k]
			sums.Minus(&own[h.name][k])
			h.ways = append(h.ways, model.WaySum{Kind: kind, Device: "vxlan.calico", Count: len(nodes) - 1, Sums: sums})
		}
	}
}

// ways are the sums of routes to blocks, of routes to tunnel addresses and of neighbour entries.
type ways [3]model.WaySums
