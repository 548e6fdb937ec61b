//go:build e2e

package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/lab"
)

const kubevirt = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.kubevirt.io"},"spec":{"group":"kubevirt.io","scope":"Namespaced",
	"names":{"plural":"%s","kind":"%s","listKind":"%sList"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

func TestMain(m *testing.M) { lab.Main(m) }

// An apiServer is a real API server.
type apiServer struct {
	*testing.T
	l     *lab.Lab
	admin *Client
}

func connectedTo(t *testing.T, kubeconfig string) *Client {
	t.Helper()
	c, err := Connect(Options{Kubeconfig: kubeconfig, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (e *apiServer) do(method, path, body string) {
	e.Helper()
	if b, err := e.l.Do(e.Context(), method, path, body); err != nil {
		e.Fatalf("%v: %s", err, b)
	}
}

func (e *apiServer) wait(what string, f func() error) {
	e.Helper()
	if err := lab.Eventually(e.Context(), 30*time.Second, func(context.Context) error { return f() }); err != nil {
		e.Fatalf("%s: %v", what, err)
	}
}

// TestLabFollow: whatever happens in a real API server, and however often the connection to
// it breaks, what was listed and what was told since is what a new list has; and each
// object's changes are told once, in their order.
func TestLabFollow(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true})
	e := &apiServer{T: t, l: l, admin: connectedTo(t, l.Kubeconfig())}
	e.do("POST", "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"default"}}`)
	for plural, kind := range map[string]string{"virtualmachines": "VirtualMachine", "virtualmachineinstances": "VirtualMachineInstance"} {
		e.do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", fmt.Sprintf(kubevirt, plural, plural, kind, kind))
		e.wait(plural, func() error { _, err := l.Do(t.Context(), "GET", machinesPath+plural, ""); return err })
	}
	e.happens(60, func() {})

	proxy := lab.StartProxy(t, e.admin.base.Host)
	straight, rough := e.follows(e.admin), e.follows(e.through(proxy))
	cuts := 0
	e.happens(1500, func() {
		if cuts++; cuts%20 == 0 {
			proxy.CutAfter(20_000 + rand.Int64N(60_000))
			proxy.Cut()
		}
	})
	proxy.CutAfter(0)
	proxy.Cut()
	for name, m := range map[string]*retold{"straight": straight, "rough": rough} {
		e.wait(name+": the list is what was told", func() error {
			return m.differs(e.lists(e.admin).rows)
		})
	}
	pages := connectedTo(t, l.Kubeconfig())
	pages.page.Store(3)
	pages.Gentle = true
	if err := straight.differs(e.lists(pages).rows); err != nil {
		t.Errorf("in pages: %v", err)
	}
	for _, m := range []*retold{straight, rough} {
		m.mu.Lock() // it is told nothing more
		defer m.mu.Unlock()
	}
	t.Logf("%d changes in %d tellings; %d cuts, then %d changes in %d tellings", straight.told, straight.tellings, proxy.Cuts.Load(), rough.told, rough.tellings)
	for r, s := range straight.history {
		if r.Kind != model.KindVM && !reflect.DeepEqual(rough.history[r], s) { // a machine's is a second look
			t.Errorf("%s:\nstraight %v\nrough    %v", r, s, rough.history[r])
		}
	}
	if proxy.Cuts.Load() < 20 || straight.told < 500 {
		t.Errorf("%d cuts and %d changes say little", proxy.Cuts.Load(), straight.told)
	}
	// The server began to listen to machines when they were defined: what was before is gone.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := (Follower{e.admin}).Follow(ctx, map[model.Table]string{model.VMs: "1"}, func([]observe.Change) {}); !errors.Is(err, observe.ErrGone) {
		t.Errorf("a revision of long ago: %v", err)
	}
}

// through connects past the proxy.
func (e *apiServer) through(p *lab.Proxy) *Client {
	e.Helper()
	cfg, err := clientcmd.LoadFromFile(e.l.Kubeconfig())
	if err != nil {
		e.Fatal(err)
	}
	for _, c := range cfg.Clusters {
		u, err := url.Parse(c.Server)
		if err != nil {
			e.Fatal(err)
		}
		c.TLSServerName, c.Server = u.Hostname(), "https://"+p.Addr
	}
	file := filepath.Join(e.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*cfg, file); err != nil {
		e.Fatal(err)
	}
	return connectedTo(e.T, file)
}

// happens does things to few objects, at random.
func (e *apiServer) happens(times int, between func()) {
	e.Helper()
	try := func(method, path, body string) { _, _ = e.l.Do(e.Context(), method, path, body) } // what is there or not there
	for n := range times {
		i := rand.IntN(8)
		pod, node, svc := fmt.Sprintf("/p%d", i), fmt.Sprintf("/n%d", i), fmt.Sprintf("/s%d", i)
		const pods, services = "/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/services"
		which := rand.IntN(2)
		vms, kind := machinesPath+"namespaces/default/"+machines[which], []string{"VirtualMachine", "VirtualMachineInstance"}[which]
		switch rand.IntN(12) {
		case 0, 1, 2:
			try("POST", pods, fmt.Sprintf(`{"metadata":{"name":%q,"annotations":{"cni.projectcalico.org/podIP":"10.0.0.%d/32"}},"spec":{"nodeName":"n%d","automountServiceAccountToken":false,"terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":"x"}]}}`, pod[1:], n%250, i))
		case 3, 4:
			var o map[string]any
			if e.l.Get(e.Context(), pods+pod, &o) == nil {
				o["status"] = map[string]any{"phase": "Running", "podIP": fmt.Sprintf("10.0.1.%d", n%250)}
				try("PUT", pods+pod+"/status", asJSON(e.T, o))
			}
		case 5:
			try("DELETE", pods+pod, "")
		case 6:
			try("POST", "/api/v1/nodes", fmt.Sprintf(`{"metadata":{"name":%q}}`, node[1:]))
		case 7:
			try("DELETE", "/api/v1/nodes"+node, "")
		case 8:
			try("POST", services, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"type":"LoadBalancer","ports":[{"port":80}]}}`, svc[1:]))
		case 9:
			var o map[string]any
			if e.l.Get(e.Context(), services+svc, &o) == nil { // of the kind that is followed, or not
				o["spec"].(map[string]any)["type"] = []string{"LoadBalancer", "NodePort"}[n%2]
				try("PUT", services+svc, asJSON(e.T, o))
			}
		case 10:
			try("POST", vms, fmt.Sprintf(`{"apiVersion":"kubevirt.io/v1","kind":%q,"metadata":{"name":"m%d"}}`, kind, i%3))
		case 11:
			try("DELETE", vms+fmt.Sprintf("/m%d", i%3), "")
		}
		between()
	}
}

// A retold is a list, and what was told since.
type retold struct {
	mu             sync.Mutex
	rows           map[model.Ref]any
	history        map[model.Ref][]string
	told, tellings int
	ended          error
}

func (e *apiServer) lists(c *Client) (m *retold) {
	e.Helper()
	m, _ = e.listed(c)
	return m
}

func (e *apiServer) listed(c *Client) (*retold, map[model.Table]string) {
	e.Helper()
	s := observe.Snapshot(e.Context(), func(string, int, bool) {}, Pods{Client: c}, Nodes{c}, Services{c}, VMs{c})
	m := &retold{rows: map[model.Ref]any{}, history: map[model.Ref][]string{}}
	since := map[model.Table]string{}
	for _, cov := range s.Coverage {
		if cov.State != model.Complete || cov.Revision == "" {
			e.Fatalf("%+v", cov)
		}
		since[cov.Table] = cov.Revision
	}
	for i := range s.Pods {
		m.rows[s.Pods[i].Ref()] = s.Pods[i]
	}
	for i := range s.Nodes {
		m.rows[s.Nodes[i].Ref()] = s.Nodes[i]
	}
	for i := range s.Services {
		m.rows[s.Services[i].Ref()] = s.Services[i]
	}
	for i := range s.VMs {
		m.rows[s.VMs[i].Ref()] = true // which of the two it is, is not told
	}
	return m, since
}

func (e *apiServer) follows(c *Client) *retold {
	e.Helper()
	m, since := e.listed(c)
	ctx, cancel := context.WithCancel(e.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := Follower{c}.Follow(ctx, since, m.take)
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.ended = err; ctx.Err() != nil {
			m.ended = nil
		}
	}()
	e.Cleanup(func() { cancel(); <-done })
	return m
}

func (m *retold) take(cs []observe.Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tellings++
	for _, c := range cs {
		m.told++
		switch row := c.Row.(type) {
		case *model.Pod:
			m.rows[c.Ref] = *row
			m.history[c.Ref] = append(m.history[c.Ref], row.Revision)
		case *model.Node:
			m.rows[c.Ref] = *row
			m.history[c.Ref] = append(m.history[c.Ref], row.Revision)
		case *model.Service:
			m.rows[c.Ref] = *row
			m.history[c.Ref] = append(m.history[c.Ref], row.Revision)
		case *model.VM:
			m.rows[c.Ref] = true
		default:
			delete(m.rows, c.Ref)
			m.history[c.Ref] = append(m.history[c.Ref], "gone")
		}
	}
}

func (m *retold) differs(want map[model.Ref]any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended != nil {
		return m.ended
	}
	for r, row := range want {
		if !reflect.DeepEqual(m.rows[r], row) {
			return fmt.Errorf("%s: told %+v, listed %+v", r, m.rows[r], row)
		}
	}
	for r := range m.rows {
		if _, there := want[r]; !there {
			return fmt.Errorf("%s: told, and not there", r)
		}
	}
	return nil
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
