//go:build e2e

package agents

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/load"
)

// A cluster is the loaded lab, with the agents of its nodes.
type cluster struct {
	*lab.Lab
	config *rest.Config
	http   *http.Client
	hosts  []*host // by name
	state  string  // the program's state directory
	server int     // the API server's process
}

// A host is a node, and the answer of its agent.
type host struct {
	name  string
	ip    netip.Addr
	pods  []*model.Pod
	agent *model.Pod
	state *model.NodeState
	body  []byte // of its tables
	mood  atomic.Int32
	known atomic.Pointer[leave]
	real  *seatOf // its agent, where that is the real one

	tunnel netip.Addr
	ways   []model.WaySum // to the other hosts
}

// fill loads a healthy cluster and reads it back.
func fill(t *testing.T, l *lab.Lab, r *report) *cluster {
	t.Helper()
	sum, err := load.Run(t.Context(), l, load.Config{Nodes: *nodes, PodsPerNode: *pods})
	if err != nil {
		t.Fatal(err)
	}
	r.add("load of the lab", short(sum.Write+sum.Settle), fmt.Sprintf("%d nodes, %d pods", sum.Nodes, sum.Pods))
	c := &cluster{Lab: l, state: t.TempDir()}
	if c.config, err = clientcmd.BuildConfigFromFlags("", l.Kubeconfig()); err != nil {
		t.Fatal(err)
	}
	if c.http, err = rest.HTTPClientFor(c.config); err != nil {
		t.Fatal(err)
	}
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
	c.connect(t, client, s.Nodes)
	parts, err := l.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if p.Name == "kube-apiserver" {
			c.server = p.PID
		}
	}
	return c
}

// ask sends a request as an administrator and reads the response.
func (c *cluster) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, c.config.Host+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s: %.300s", method, path, resp.Status, b)
	}
	return b, nil
}
