package agent_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

var now = time.Unix(1_800_000_000, 0)

// says is what an agent whose clock is an hour slow answers about a node.
func says(t *testing.T, node string) io.ReadCloser {
	t.Helper()
	taken := model.At(now.Add(-time.Hour))
	s := &model.Snapshot{
		Meta: model.Meta{Schema: model.Schema, Taken: taken}, Coverage: []model.Coverage{{Table: model.Links, Node: node, State: model.Complete}, {Table: model.Pods, State: model.Complete}},
		NodeState: map[string]*model.NodeState{node: {Links: []model.Link{{Index: 1, Name: "cali1", Since: taken - 60}}}},
		Pods:      []model.Pod{{Name: "forged"}},
	}
	var b bytes.Buffer
	if err := snapshotio.WriteBundle(&b, s); err != nil {
		t.Fatal(err)
	}
	return io.NopCloser(&b)
}

// A node is believed about itself only; its clock is not believed at all; and whoever is
// silent holds up nobody.
func TestFleet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &agent.Fleet{
			Nodes: []string{"good", "liar", "refuses", "hangs"}, Now: func() time.Time { return now },
			Open: func(ctx context.Context, node, _ string, _ url.Values) (io.ReadCloser, error) {
				switch node {
				case "good":
					return says(t, "good"), nil
				case "liar":
					return says(t, "good"), nil
				case "hangs":
					<-ctx.Done()
					return nil, ctx.Err()
				default:
					return nil, errors.New("refused")
				}
			},
		}
		var b model.Builder
		began := time.Now() //nolint:forbidigo // how long it takes is what is tested
		if _, err := f.Collect(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("took %s", took)
		}
		s := b.Snapshot()
		if len(s.NodeState) != 1 || len(s.Pods) != 0 || s.NodeState["good"].Links[0].Since != model.At(now)-60 {
			t.Errorf("%+v, %v", s.NodeState["good"], s.Pods)
		}
		why := map[string]string{}
		for _, c := range s.Coverage {
			if c.Table == model.Links {
				why[c.Node] = string(c.State) + " " + c.Reason
			}
			if c.Node == "" {
				t.Errorf("an agent speaks of the whole cluster: %+v", c)
			}
		}
		want := map[string]string{"good": "complete ", "liar": "absent the agent reported another node", "refuses": "absent refused", "hangs": "absent no answer in 5s"}
		for n, w := range want {
			if why[n] != w {
				t.Errorf("%s: %q, want %q", n, why[n], w)
			}
		}
		// What it says again takes the place of what it said before.
		s.PutFacts(agent.Silent("gone", "good"))
		if len(s.NodeState) != 0 {
			t.Errorf("%v", s.NodeState)
		}
	})
}
