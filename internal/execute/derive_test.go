package execute_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A fleet is three nodes. The address of block A is allocated to a container on n1, whose block it
// is, and the plan asks n2 only.
type fleet struct {
	silent []string          // do not answer
	half   []string          // answer incompletely, and without what they use
	shows  bool              // but these show what uses the address
	names  map[string]string // what Calico calls them, if not by their names
	using  string            // the node with the address
	down   []string          // have the out-of-service taint, and their kubelets have been silent for ten minutes
	node   *model.NodeBody   // n1's Node, if it is another
	pod    string            // the node of a pod that has the address in its status
	owner  string            // the node that the allocation names; n1 if empty
}

func (f *fleet) run(t *testing.T) (*cluster, repair.Outcome, string) {
	t.Helper()
	c := newCluster(t, blockA)
	c.nodes = []string{"n1", "n2", "n3"}
	owner := f.owner
	if owner == "" {
		owner = "n1"
	}
	ref := model.Ref{Kind: model.KindBlock, Name: blockA}
	o := c.objects[ref]
	o.Body = json.RawMessage(strings.Replace(string(o.Body), `}],"seq`, fmt.Sprintf(`,"secondary":{"node":%q}}],"seq`, owner), 1))
	c.objects[ref] = o
	for _, n := range c.nodes {
		b := model.NodeBody{}
		if slices.Contains(f.down, n) {
			b = model.NodeBody{Silent: true, Changed: model.At(c.clock.Add(-10 * time.Minute)), Taints: []string{model.OutOfServiceTaint + ":NoExecute"}}
		}
		if n == "n1" && f.node != nil {
			b = *f.node
		}
		body, _ := json.Marshal(b)
		at := model.Ref{Kind: model.KindNode, Name: n}
		c.objects[at] = model.Object{Ref: at, UID: "u-" + n, Revision: "1", Body: body}
	}
	if f.pod != "" {
		body, _ := json.Marshal(model.PodBody{Node: f.pod, Phase: model.Running, IPs: []netip.Addr{netip.MustParsePrefix(blockA).Addr()}})
		c.pods = []model.Object{{Ref: model.Ref{Kind: model.KindPod, Name: "shop/web"}, UID: "u", Revision: "1", Body: body}}
	}
	c.answer = func(v *model.Verification) error {
		v.ConfigName = v.Node
		if name := f.names[v.Node]; name != "" {
			v.ConfigName = name
		}
		if f.using == v.Node {
			v.Sandboxes = []model.Sandbox{{ID: containerOf(blockA), Ready: true, Namespace: "shop", Pod: "web"}}
		}
		if slices.Contains(f.silent, v.Node) {
			return errTest
		}
		if slices.Contains(f.half, v.Node) {
			v.Complete, v.Missing = false, []string{"namespaces: timed out"}
			if !f.shows {
				v.Sandboxes = nil
			}
		}
		return nil
	}
	p := planOf([]string{blockA})
	p.Targets[0].Proof.NotInUse.Nodes = []string{"n2"}
	at := object.Attribute{Handle: lossless.Some(handleOf(blockA)), Secondary: lossless.Some(map[string]string{"node": owner})}
	p.Steps[0].Change.(change.Ordinals)[0].From.Attribute = at.Row()
	res, err := c.executor().Run(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := res.Findings[findingA]
	if (c.held(blockA) == "") != (v.Outcome == repair.Done) {
		t.Errorf("%s, and the address is held by %q", v.Outcome, c.held(blockA))
	}
	return c, v.Outcome, v.Why
}

// The nodes that could have an address verify that it is not in use, whatever the plan says.
func TestNodesAreDerived(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fleet
		released bool
		why      string
	}{
		"nobody uses it":                                  {fleet{}, true, ""},
		"the node of the allocation uses it":              {fleet{using: "n1"}, false, "exists on n1"},
		"the node of the allocation is silent":            {fleet{silent: []string{"n1"}}, false, "agent on n1 does not answer"},
		"another node is called like that, and uses it":   {fleet{names: map[string]string{"n3": "n1"}, using: "n3"}, false, "exists on n3"},
		"a silent node may be called like that":           {fleet{silent: []string{"n3"}, using: "n3"}, false, "agent on n3 does not answer"},
		"a node that was called like that before uses it": {fleet{using: "n3"}, false, "exists on n3"},
		"an incomplete answer may lack a name":            {fleet{half: []string{"n3"}, using: "n3"}, false, "agent on n3 could not read everything"},
		"an incomplete answer shows who uses it":          {fleet{half: []string{"n3"}, shows: true, using: "n3"}, false, "n3"},
		"a pod elsewhere has it in its status":            {fleet{pod: "n3"}, false, "has 10.0.0.0 in its status"},
		"the allocation names a node that is gone":        {fleet{owner: "n9"}, false, "node n9 has no Node object"},
		"and another node claims its name":                {fleet{owner: "n9", names: map[string]string{"n3": "n9"}}, false, "node n9 has no Node object"},
		"out of service and silent":                       {fleet{silent: []string{"n1"}, down: []string{"n1"}}, true, ""},
		"out of service and silent, used elsewhere":       {fleet{silent: []string{"n1"}, down: []string{"n1"}, using: "n3"}, false, "exists on n3"},
		"out of service, but it answers":                  {fleet{down: []string{"n1"}, using: "n1"}, false, "exists on n1"},
		"two out of service and silent":                   {fleet{silent: []string{"n1", "n3"}, down: []string{"n1", "n3"}}, true, ""},
		"one out of service, another one silent too":      {fleet{silent: []string{"n1", "n3"}, down: []string{"n1"}}, false, "agent on n3 does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, got, why := test.run(t)
			if (got == repair.Done) != test.released || !strings.Contains(why, test.why) {
				t.Errorf("%s: %s\n%q", got, why, c.log)
			}
		})
	}
}

// The taint out-of-service excuses the silence of a node's agent only if Kubernetes honours it,
// and the kubelet has been silent for minutes.
func TestOutOfService(t *testing.T) {
	t.Parallel()
	const now = 1_700_000_000 // the clock of newCluster
	down := func(change func(b *model.NodeBody)) *model.NodeBody {
		b := &model.NodeBody{Silent: true, Changed: now - 600, Taints: []string{model.OutOfServiceTaint + ":NoExecute"}}
		change(b)
		return b
	}
	taint := func(effect string) func(*model.NodeBody) {
		return func(b *model.NodeBody) { b.Taints = []string{model.OutOfServiceTaint + effect} }
	}
	for name, test := range map[string]struct {
		node *model.NodeBody
		free bool
	}{
		"down":                          {down(func(*model.NodeBody) {}), true},
		"NoSchedule":                    {down(taint(":NoSchedule")), true},
		"PreferNoSchedule":              {down(taint(":PreferNoSchedule")), false},
		"no effect":                     {down(taint(":")), false},
		"another taint":                 {down(taint("-soon:NoExecute")), false},
		"Ready":                         {down(func(b *model.NodeBody) { b.Ready, b.Silent = true, false }), false},
		"Ready, says a torn object":     {down(func(b *model.NodeBody) { b.Ready = true }), false},
		"its kubelet says not ready":    {down(func(b *model.NodeBody) { b.Silent = false }), false},
		"silent for less than 5m":       {down(func(b *model.NodeBody) { b.Changed = now - 200 }), false},
		"silent from tomorrow":          {down(func(b *model.NodeBody) { b.Changed = now + 86400 }), false},
		"since when is not known":       {down(func(b *model.NodeBody) { b.Changed = 0 }), false},
		"a node without any status":     {&model.NodeBody{Taints: []string{model.OutOfServiceTaint + ":NoExecute"}}, false},
		"silent for hours, not tainted": {down(func(b *model.NodeBody) { b.Taints = nil }), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fleet{silent: []string{"n1"}, node: test.node}
			if _, got, why := f.run(t); (got == repair.Done) != test.free {
				t.Errorf("%s: %s", got, why)
			}
		})
	}
}
