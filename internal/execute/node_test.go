package execute_test

import (
	"context"
	"encoding/json"
	"testing"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A nodeWriter is an agent with one interface, which Change deletes.
type nodeWriter struct{ *cluster }

func (w nodeWriter) NodeObject(ctx context.Context, _ string, r model.Ref, _ map[string]string) (model.Object, error) {
	return w.Get(ctx, r)
}

func (w nodeWriter) Change(ctx context.Context, _, _ string, o model.Object, _ map[string]string, _ bool) (bool, error) {
	return false, w.Delete(ctx, o)
}

func (w nodeWriter) Routed(context.Context, change.Await) (bool, error) { return false, errTest }

// A change on a node is verified and journalled like a write, also on every retry.
func TestNodeChange(t *testing.T) {
	for name, test := range map[string]struct {
		put     func(c *cluster, apply func() error) error
		answer  func(*model.Verification) error
		journal string
		outcome repair.Outcome
	}{
		"done": {nil, nil, "intent done", repair.Done},
		"stale: it starts again": {func(c *cluster, apply func() error) error {
			if c.tries == 1 {
				return execute.ErrStale
			}
			return apply()
		}, nil, "intent stale intent done", repair.Done},
		"refused: it does not try again":  {func(*cluster, func() error) error { return execute.ErrRefused }, nil, "intent refused", repair.Refused},
		"in use: no write and no Intent":  {nil, sandboxReady(blockA), "refused", repair.Refused},
		"no answer: no write, no Intent":  {nil, func(*model.Verification) error { return errTest }, "refused", repair.Refused},
		"answer lost: it finds it absent": {func(_ *cluster, apply func() error) error { _ = apply(); return errTest }, nil, "intent unknown done", repair.Done},
	} {
		t.Run(name, func(t *testing.T) {
			c, p, ref := newCluster(t), planOf([]string{blockA}), model.Ref{Kind: model.KindLink, Name: node + "/cali1"}
			c.objects[ref] = model.Object{Ref: ref, Revision: "digest", Body: json.RawMessage(`{"name":"cali1","index":7}`)}
			c.put, c.answer = test.put, test.answer
			p.Steps[0].On, p.Steps[0].Change = ref, &change.OnNode{Verb: "unlink", Args: map[string]string{"index": "7"}}
			x := c.executor()
			x.NodeWriter = nodeWriter{c}
			res, err := x.Run(t.Context(), p, nil)
			if err != nil || c.outcomes() != test.journal || res.Findings[findingA].Outcome != test.outcome || (c.writes == 1) != (test.outcome == repair.Done) {
				t.Errorf("%v, %d writes, journal %q, %+v", err, c.writes, c.outcomes(), res)
			}
		})
	}
}
