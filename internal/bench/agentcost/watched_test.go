//go:build e2e

package agentcost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
)

// watched measures the agent at rest and under churn while somebody watches its tables, beside a program that only listens to
// the kernel.
func (s *lookup) watched(t *testing.T, r *report) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var sent atomic.Int64
	watching, listening := make(chan error, 1), make(chan error, 1)
	go func() { watching <- s.ask.watch(ctx, &sent) }()
	go func() {
		_, err := s.node.Exec(ctx, "ip", "-o", "monitor", "all")
		listening <- err
	}()
	time.Sleep(5 * time.Second) // the tables are sent
	r.add("tables sent to a watcher", kilobytes(int(sent.Load())), "")

	before := sent.Load()
	u := quiet(t, s, nil, "plumbline-agent", monitor(t, s))
	r.add("CPU when idle, with a watcher", percent(u["plumbline-agent"]), "a listener to netlink "+percent(u[monitor(t, s)]))
	each := float64(sent.Load()-before) / rest.Seconds()
	r.add("sent to a watcher when idle", fmt.Sprintf("%.0f bytes a second", each), "")
	if u["plumbline-agent"] > maxCPU || each > 2000 {
		t.Errorf("watched, the agent uses %s of a core and sends %.0f bytes a second", percent(u["plumbline-agent"]), each)
	}

	before = sent.Load()
	s.churn(t, r)
	r.add("  of which a watcher was sent", kilobytes(int(sent.Load()-before)), "")
	select {
	case err := <-watching:
		t.Errorf("the watch ended: %v", err)
	case err := <-listening:
		t.Errorf("the listener ended: %v", err)
	default:
	}
	cancel()
	<-watching
	<-listening
}

// monitor is the name of the listener's program, which distributions wrap.
func monitor(t *testing.T, s *lookup) string {
	t.Helper()
	for _, name := range []string{"ip", "ip.real"} {
		if all, err := s.node.Processes(name); err == nil && len(all) == 1 {
			return name
		}
	}
	t.Fatal("no listener to netlink runs")
	return ""
}

// watch counts the bytes of a watch until it ends.
func (a *asker) watch(ctx context.Context, sent *atomic.Int64) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+agent.PathWatch, nil)
	if err != nil {
		return err
	}
	q.Header = a.caller.Headers(a.token, "node1", http.MethodGet, agent.PathWatch, nil, nil)
	resp, err := a.client.Do(q)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	_, err = io.Copy(counter{sent}, resp.Body)
	if err == nil {
		err = os.ErrClosed
	}
	return err
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}
