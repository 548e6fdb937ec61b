//go:build e2e

package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// watched: the agent is asked directly, with the certificate of its Lease; a watch tells of a pod as it
// comes and goes, goes on after an interruption and after the agent's restart; another certificate is
// refused before anything is sent.
func watched(t *testing.T, s *stage.Stage, a *asker) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, err := s.Node(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	own := token(t, s.Lab, "plumbline-system", "plumbline-reader", a.caller.Audience())
	var asked atomic.Int64
	direct := (&agent.Direct{
		Identities: a.Identities,
		Address:    func(string) netip.AddrPort { return netip.AddrPortFrom(n.Addr(), agent.Port) },
		Headers: func(_ context.Context, node, path string, query url.Values) (http.Header, error) {
			asked.Add(1)
			return a.caller.Headers(own, node, http.MethodGet, path, query, nil), nil
		},
	}).Connect()
	defer direct.Close()
	streams := agent.NewStreams()
	streams.Now = time.Now
	streams.Ask = func(_ context.Context, node string) *model.Snapshot { return agent.Silent("cannot be watched", node) }
	streams.Open = func(ctx context.Context, node string, query url.Values) (io.ReadCloser, error) {
		return direct.Get(ctx, node, agent.PathWatch, query)
	}
	streams.Keep(ctx, []string{"node1"})
	sandbox := func(name string) (since time.Time, ok bool) {
		f := streams.Snapshot().NodeState["node1"]
		if f == nil {
			return since, false
		}
		i := slices.IndexFunc(f.Sandboxes, func(b model.Sandbox) bool { return b.Pod == name && b.Ready })
		if i < 0 {
			return since, false
		}
		attached := slices.IndexFunc(f.Attachments, func(x model.Attachment) bool { return x.Sandbox == f.Sandboxes[i].ID && len(x.IPs) > 0 })
		return f.Sandboxes[i].Since.Time(), attached >= 0
	}
	await := func(what string, ok func() bool) {
		t.Helper()
		if err := lab.Eventually(ctx, 2*time.Minute, func(context.Context) error { return stage.Expect(ok(), "%s", what) }); err != nil {
			t.Fatal(err)
		}
	}
	comes := func(name string) {
		t.Helper()
		pod, err := s.Run(ctx, stage.PodSpec{Name: name, Node: "node1"})
		if err != nil {
			t.Fatal(err)
		}
		await(name+" in the watch", func() bool { _, ok := sandbox(name); return ok })
		if err := s.Delete(ctx, pod.Metadata.Name); err != nil {
			t.Fatal(err)
		}
		await(name+" gone from the watch", func() bool { _, ok := sandbox(name); return !ok })
	}
	await("the pod web", func() bool { _, ok := sandbox("web"); return ok })
	comes("seen")
	before := asked.Load()
	if before < 1 || before > 3 { // a connection may not come about at once
		t.Errorf("%d requests for one watch", before)
	}
	// The agent is replaced: its key and certificate are new.
	if _, err := s.Kubectl(ctx, "-n", "plumbline-system", "delete", "pod", "-l", "app.kubernetes.io/component=agent", "--wait=true"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	await("the watch of the new agent", func() bool {
		watched, _, _, _ := streams.Count()
		_, ok := sandbox("web")
		return watched == 1 && ok && asked.Load() > before
	})
	t.Logf("watched again %s after its agent was deleted, with %d requests", time.Since(began).Round(100*time.Millisecond), asked.Load()-before)
	comes("seen-again")

	forged := (&agent.Direct{
		Identities: forgedPin{a.Identities}, Address: func(string) netip.AddrPort { return netip.AddrPortFrom(n.Addr(), agent.Port) },
		Headers: func(context.Context, string, string, url.Values) (http.Header, error) { return http.Header{}, nil },
	}).Connect()
	defer forged.Close()
	if body, err := forged.Get(ctx, "node1", agent.PathDigest, nil); !errors.Is(err, agent.ErrNotDirect) {
		t.Errorf("an agent with another certificate answered: %v, %v", body, err)
	}
}

// forgedPin has the fingerprint of another certificate.
type forgedPin struct{ agent.Identities }

func (f forgedPin) Identity(ctx context.Context, node string, fresh bool) (agent.Identity, error) {
	id, err := f.Identities.Identity(ctx, node, fresh)
	if err == nil && len(id.Certificate) == 0 {
		err = fmt.Errorf("the agent of %s has not published a certificate", node)
	}
	id.Certificate = make([]byte, 32)
	return id, err
}
