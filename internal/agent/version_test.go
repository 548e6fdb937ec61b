package agent_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/timeline/pick"
)

// An agent of version 1 has no such path, or refuses because of its old resource.
func TestOlderAgentIsNamed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, says := range []string{
		"ask the agent of w1: not there: 404 page not found",
		"ask the agent of w1: forbidden: the token is not valid on this node, or its owner may not get nodefacts.plumbline.dev",
	} {
		f := &agent.Fleet{
			Nodes: []string{"w1"}, Now: func() time.Time { return now },
			Open: func(context.Context, string, string, url.Values) (io.ReadCloser, error) { return nil, errors.New(says) },
			Post: func(context.Context, string, string, []byte) (io.ReadCloser, error) { return nil, errors.New(says) },
		}
		mount := model.Ref{Kind: model.KindMount, Name: "w1//data"}
		_, verify := f.Verification(ctx, "w1", url.Values{"all": {"1"}})
		_, object := f.NodeObject(ctx, mount, nil)
		_, change := f.Change(ctx, agent.Change{Verb: "unmount", Ref: mount})
		_, logs := f.Logs(ctx, "w1", pick.Question{Namespace: "shop", Pod: "db-0"})
		_, calls := f.GuardCalls(ctx, []string{"w1"}, agent.CallQuestion{})
		_, guards := f.Guards(ctx, []string{"w1"})
		for what, err := range map[string]error{"verify": verify, "object": object, "change": change, "logs": logs, "events": calls["w1"], "guard": guards["w1"]} {
			if !errors.Is(err, agent.ErrOlder) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if c := f.About(ctx, f.Nodes, url.Values{}).Coverage; len(c) == 0 || c[0].State != model.Lost || c[0].Reason != agent.ErrOlder.Error() {
			t.Errorf("tables: %+v", c)
		}
	}
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]error{"": agent.ErrOlder, "1": agent.ErrOlder, "2": agent.ErrOlder, "4": agent.ErrOlder, "5": nil, "6": agent.ErrNewer, "x": agent.ErrOlder} {
		h := http.Header{}
		h.Set(agent.VersionHeader, value)
		if err := agent.CheckVersion(h); !errors.Is(err, want) {
			t.Errorf("%q: %v", value, err)
		}
	}
}
