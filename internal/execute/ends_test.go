package execute_test

import (
	"encoding/json"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// Who could still have the sandbox of an endpoint verifies that it is gone, whatever the plan says.
func TestEndpointIsDeletedOnlyIfItsSandboxIsGone(t *testing.T) {
	t.Parallel()
	sandbox := containerOf(blockA)
	for name, test := range map[string]struct {
		using, silent string // nodes
		node          string // as the endpoint says
		deleted       bool
		why           string
	}{
		"it is gone":                         {node: "n2", deleted: true},
		"its node has it":                    {node: "n2", using: "n2", why: "exists on n2"},
		"another node has it":                {node: "n2", using: "n3", why: "exists on n3"},
		"a silent node may be called so":     {node: "n2", using: "n3", silent: "n3", why: "agent on n3 does not answer"},
		"its node has no Node object":        {node: "n9", why: "node n9 has no Node object"},
		"a node that the plan does not name": {node: "n1", deleted: true},
	} {
		c := newCluster(t, blockA)
		c.nodes = []string{"n1", "n2", "n3"}
		ref := model.Ref{Kind: model.KindEndpoint, Name: "shop/n2-k8s-web-eth0"}
		body, err := json.Marshal(map[string]any{"spec": map[string]any{"node": test.node, "pod": "web", "containerID": sandbox}})
		if err != nil {
			t.Fatal(err)
		}
		c.objects[ref] = model.Object{Ref: ref, UID: "u", Revision: "1", Body: body}
		c.answer = func(v *model.Verification) error {
			v.ConfigName = v.Node
			if v.Node == test.using {
				v.Sandboxes = []model.Sandbox{{ID: sandbox, Ready: true, Namespace: "shop", Pod: "web"}}
			}
			if v.Node == test.silent {
				return errTest
			}
			return nil
		}
		const key = "PL2002/shop/n2-k8s-web-eth0"
		p := &repair.Plan{
			Schema: repair.Schema, ID: "plan", Cluster: "cluster",
			Targets: []repair.Target{{Finding: key, Risk: change.Safe, Proof: change.Proof{NotInUse: &change.NotInUse{Containers: []string{sandbox}, Nodes: []string{"n1"}}}}},
			Steps:   []repair.Step{{ID: 1, Do: "delete", On: ref, For: []string{key}, Change: &change.Endpoint{Container: sandbox}}},
		}
		res, err := c.executor().Run(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := res.Findings[key]
		if o := c.objects[ref]; o.There() == test.deleted || !strings.Contains(v.Why, test.why) {
			t.Errorf("%s: %s: %s", name, v.Outcome, v.Why)
		}
	}
}
