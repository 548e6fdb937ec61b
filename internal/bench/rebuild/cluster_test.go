//go:build e2e

package rebuild

import (
	"cmp"
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/load"
)

var podsPerNode = flag.Int("pods", 30, "how many pods each node has")

// A cluster is the loaded lab, with the simulated state of its nodes.
type cluster struct {
	*lab.Lab
	api
	hosts []*host // by name
	state string  // the program's state directory
}

// A host is a node with its pods.
type host struct {
	name  string
	ip    netip.Addr
	pods  []*model.Pod // with their own network, by name
	agent *model.Pod
	mute  bool
	hangs bool // it accepts requests, and does not answer
	desk  *desk
}

// fill loads a healthy cluster and reads it back.
func fill(t *testing.T, l *lab.Lab, r *report) *cluster {
	t.Helper()
	sum, err := load.Run(t.Context(), l, load.Config{Nodes: *nodes, PodsPerNode: *podsPerNode, Seed: *seed})
	if err != nil {
		t.Fatal(err)
	}
	r.add("load of the lab", (sum.Write + sum.Settle).Round(time.Second).String(), fmt.Sprintf("%d nodes and blocks, %d pods", sum.Nodes, sum.Pods))
	client, err := kube.Connect(kube.Options{Kubeconfig: l.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	var b model.Builder
	if _, err := (kube.Nodes{Client: client}).Collect(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if _, err := (kube.Pods{Client: client}).Collect(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	s := b.Snapshot()
	c := &cluster{Lab: l, api: connect(t, l), state: t.TempDir()}
	by := map[string]*host{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		h := &host{name: n.Name, ip: n.Addresses[0]}
		c.hosts, by[n.Name] = append(c.hosts, h), h
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; by[p.Node] != nil {
			by[p.Node].pods = append(by[p.Node].pods, p)
		}
	}
	slices.SortFunc(c.hosts, func(a, b *host) int { return cmp.Compare(a.name, b.name) })
	for _, h := range c.hosts {
		slices.SortFunc(h.pods, func(a, b *model.Pod) int { return cmp.Compare(a.Ref().Name, b.Ref().Name) })
		if len(h.pods) != *podsPerNode {
			t.Fatalf("%s has %d pods", h.name, len(h.pods))
		}
	}
	return c
}

// silence makes some of the agents not answer from now on: half of them accept requests
// and never answer, the others close the connection.
func (c *cluster) silence() {
	for i := range *silent {
		h := c.hosts[(i**nodes / *silent + 1)%*nodes]
		h.hangs = i%2 == 0
		h.mute = true
		h.desk.hush()
	}
}

// block is the block of its pods' addresses.
func (h *host) block() netip.Prefix {
	b, _ := h.pods[0].IPs[0].Prefix(26)
	return b
}

// handleOf is the handle that Calico's plugin uses for a sandbox.
func handleOf(sandbox string) string { return network + "." + sandbox }
