package cluster

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"net/url"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
)

// An agent that cannot be watched is asked through the API server; what fails there too is said.
func TestAskAround(t *testing.T) {
	t.Parallel()
	f := &following{}
	if said := f.askAround(t.Context(), "w1"); len(said.NodeState) != 0 || len(said.Coverage) != len(model.FactTables()) {
		t.Errorf("without agents: %+v", said)
	}
	var asked []string
	f.found.Store(&fleet{slow: &agent.Fleet{Now: epoch, Open: func(_ context.Context, node, path string, q url.Values) (io.ReadCloser, error) {
		asked = append(asked, node+" "+path+" "+q.Encode())
		return nil, errors.New("no route to host")
	}}})
	said := f.askAround(t.Context(), "w1")
	if len(said.NodeState) != 0 || len(said.Coverage) != len(model.FactTables()) || said.Coverage[0].State.Seen() || said.Coverage[0].Reason == "" {
		t.Errorf("%+v", said)
	}
	if !slices.Contains(asked, "w1 v1/tables ways=sum") {
		t.Errorf("asked %q", asked)
	}
}

// An agent that is not reached directly is asked through the API server, the next time at once.
func TestDirectThenAround(t *testing.T) {
	t.Parallel()
	around := 0
	f := &fleet{Fleet: &agent.Fleet{Nodes: []string{"w1"}, Now: epoch, Open: func(context.Context, string, string, url.Values) (io.ReadCloser, error) {
		around++
		return io.NopCloser(nil), nil
	}}, pods: map[string]kube.AgentPod{"w1": {Node: "w1", IP: netip.MustParseAddr("192.0.2.1"), Port: 9474}}, namespace: "plumbline-system"}
	c := &Cluster{}
	readers := &agentTokens{caller: agent.NewCaller()}
	readers.request = func(context.Context) (string, time.Time, error) { return "token", epoch(), nil }
	f.connect(c, readers)
	c.direct.Identities = nobody{}
	for i := range 2 {
		if _, err := f.Open(t.Context(), "w1", "v1/digest", nil); err != nil || around != i+1 {
			t.Errorf("%v, %d times around", err, around)
		}
	}
	if _, ok := c.direct.failed.Load("w1"); !ok {
		t.Error("it is tried directly each time")
	}
	if f.slow == nil || f.slow.AtOnce == 0 {
		t.Error("all agents are asked around at once")
	}
}

type nobody struct{}

func (nobody) Identity(context.Context, string, bool) (agent.Identity, error) {
	return agent.Identity{}, errors.New("no such Lease")
}

// Without a token the API server has not told its time: what is known of it goes on.
func TestServerTimeWithoutToken(t *testing.T) {
	t.Parallel()
	f := &following{Cluster: &Cluster{}, keep: func([]string) {}}
	at := time.Unix(1_800_000_000, 0)
	f.fleet = &fleet{Fleet: &agent.Fleet{Now: func() time.Time { return at }}}
	f.keepNodes()
	f.fleet = &fleet{Fleet: &agent.Fleet{Now: func() time.Time { return time.Time{} }}, without: "no token for them"}
	f.keepNodes()
	if got := f.serverTime(); !got.Equal(at) {
		t.Errorf("%s", got)
	}
}

func epoch() time.Time { return time.Unix(1_800_000_000, 0) }
