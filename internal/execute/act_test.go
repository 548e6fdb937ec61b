package execute_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

const (
	boxID  = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	oldUID = "2b8e5882-5146-11e9-b3b3-525400dd6f19"
	newUID = "11111111-5146-11e9-b3b3-525400dd6f19"
)

// acting is one change on node n1, with its proof, and what the agent and Kubernetes have.
type acting struct {
	ref    model.Ref
	change *change.OnNode
	proof  change.Proof
	body   string
	pods   map[string]model.Object // by name
	answer func(*model.Verification) error
	risk   change.Risk // --max-risk; Destructive if empty
}

func (a *acting) run(t *testing.T) (repair.Outcome, string, int) {
	t.Helper()
	c := newCluster(t)
	c.answer = a.answer
	c.objects[a.ref] = model.Object{Ref: a.ref, Revision: "digest", Body: json.RawMessage(a.body)}
	for name, o := range a.pods {
		o.Ref = model.Ref{Kind: model.KindPod, Name: name}
		c.objects[o.Ref] = o
	}
	key := "PL4003/" + a.ref.Name
	p := &repair.Plan{
		Schema: repair.Schema, ID: "plan", Cluster: "cluster",
		Targets: []repair.Target{{Finding: key, Risk: change.Disruptive, Proof: a.proof}},
		Steps:   []repair.Step{{ID: 1, Do: "act", On: a.ref, For: []string{key}, Change: a.change}},
	}
	if a.change.Verb == "remove" {
		p.Targets[0].Risk = change.Destructive
	}
	x := c.executor()
	x.NodeWriter, x.MaxRisk = nodeWriter{c}, change.Destructive
	if a.risk != "" {
		x.MaxRisk = a.risk
	}
	res, err := x.Run(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res.Steps[1].Outcome, res.Steps[1].Why + res.Findings[key].Why, c.writes
}

func aPod(uid string, change func(*model.PodBody)) model.Object {
	b := model.PodBody{Node: "n1", Phase: model.Running}
	if change != nil {
		change(&b)
	}
	body, _ := json.Marshal(b)
	return model.Object{UID: uid, Revision: "9", Body: body}
}

// A sandbox is removed only if its own pod, as the agent reports it, is gone from Kubernetes, and
// no pod has its name, bound or not, whatever the plan names.
func TestRemoveIsDerived(t *testing.T) {
	t.Parallel()
	body := `{"id":"` + boxID + `","namespace":"shop","pod":"db-0","uid":"` + oldUID + `"}`
	pod := func(uid string, change func(*model.PodBody)) map[string]model.Object {
		return map[string]model.Object{"shop/db-0": aPod(uid, change)}
	}
	for name, c := range map[string]struct {
		body  string
		gone  change.PodIs
		pods  map[string]model.Object
		calls []model.Process
		want  string // empty: it is removed
	}{
		"gone":                             {},
		"its pod runs":                     {pods: pod(oldUID, nil), want: "shop/db-0"},
		"a new pod of the name runs":       {pods: pod(newUID, nil), want: "shop/db-0"},
		"a new pod that is not bound yet":  {pods: pod(newUID, func(b *model.PodBody) { b.Node, b.Phase = "", model.Pending }), want: "pod shop/db-0 exists"},
		"a new pod on another node":        {pods: pod(newUID, func(b *model.PodBody) { b.Node = "n2" }), want: "shop/db-0"},
		"a new pod that has finished":      {pods: pod(newUID, func(b *model.PodBody) { b.Phase = model.Succeeded }), want: "pod shop/db-0 exists"},
		"the plan names another pod":       {gone: change.PodIs{Namespace: "no", Name: "where", UID: oldUID}, pods: pod(oldUID, nil), want: "UID " + oldUID + " is on the node"},
		"the pod has another name":         {pods: map[string]model.Object{"shop/other": aPod(oldUID, nil)}, want: "pod shop/other with UID"},
		"a static pod":                     {pods: map[string]model.Object{"shop/other": aPod("mirror", func(b *model.PodBody) { b.Static = oldUID })}, want: "pod shop/other with UID"},
		"the sandbox is of another UID":    {body: strings.Replace(body, oldUID, newUID, 1), want: "differ about"},
		"the agent reports another":        {body: strings.Replace(body, "aaaa", "bbbb", 1), want: "differ about"},
		"the runtime knows no pod":         {body: `{"id":"` + boxID + `","uid":"` + oldUID + `"}`, want: "does not report the pod"},
		"the agent's answer is unreadable": {body: `[]`, want: "cannot be read"},
		"a CNI call for it runs":           {calls: []model.Process{{Command: "DEL", CNI: boxID}}, want: "a CNI call (DEL) is in progress"},
		"a CNI call for another":           {calls: []model.Process{{Command: "DEL", CNI: "other"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.body == "" {
				c.body = body
			}
			if c.gone.UID == "" {
				c.gone = change.PodIs{Namespace: "shop", Name: "db-0", UID: oldUID}
			}
			a := acting{
				ref: model.Ref{Kind: model.KindSandbox, Name: "n1/" + boxID}, body: c.body, pods: c.pods,
				change: &change.OnNode{Verb: "remove", Args: map[string]string{"uid": oldUID, "containers": ""}},
				proof:  change.Proof{NotInUse: &change.NotInUse{Gone: []change.PodIs{c.gone}}},
				answer: func(v *model.Verification) error { v.Calls = c.calls; return nil },
			}
			if got, why, writes := a.run(t); (got == repair.Done) != (c.want == "") || (writes == 1) != (c.want == "") || !strings.Contains(why, c.want) {
				t.Errorf("%s: %s", got, why)
			}
		})
	}
}

// The risk of an abort is derived from the pods that use the file system now, and from whether
// all users are known.
func TestAbortIsDerived(t *testing.T) {
	t.Parallel()
	deleted := func(b *model.PodBody) { b.Deleted = true }
	for name, c := range map[string]struct {
		body string
		pods map[string]model.Object
		risk change.Risk
		want string
	}{
		"its pods are being deleted":      {`{"device":"0:52","pods":["` + oldUID + `"],"known":true}`, map[string]model.Object{"shop/db-0": aPod(oldUID, deleted)}, change.Disruptive, ""},
		"its pods are gone":               {`{"device":"0:52","pods":["` + oldUID + `"],"known":true}`, nil, change.Disruptive, ""},
		"a pod runs":                      {`{"device":"0:52","pods":["` + oldUID + `"],"known":true}`, map[string]model.Object{"shop/db-0": aPod(oldUID, nil)}, change.Disruptive, "running pod shop/db-0 loses"},
		"a pod runs, and that is allowed": {`{"device":"0:52","pods":["` + oldUID + `"],"known":true}`, map[string]model.Object{"shop/db-0": aPod(oldUID, nil)}, change.Destructive, ""},
		"its users are not known":         {`{"device":"0:52"}`, nil, change.Disruptive, "it is not known who uses"},
		"an agent that does not say":      {`{"device":"0:52","pods":["` + oldUID + `"]}`, nil, change.Disruptive, "it is not known who uses"},
		"not known, and that is allowed":  {`{"device":"0:52"}`, nil, change.Destructive, ""},
		"images are on it":                {`{"device":"0:52","known":true,"layers":["an overlay at /run/x/rootfs"]}`, nil, change.Destructive, "images of running containers"},
		"another device":                  {`{"device":"0:53","known":true}`, nil, change.Destructive, "differ about"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := acting{
				ref: model.Ref{Kind: model.KindMount, Name: "n1/bridge"}, body: c.body, pods: c.pods, risk: c.risk,
				change: &change.OnNode{Verb: "abort", Args: map[string]string{"device": "0:52", "pods": ""}},
			}
			if got, why, writes := a.run(t); (got == repair.Done) != (c.want == "") || (writes == 1) != (c.want == "") || !strings.Contains(why, c.want) {
				t.Errorf("%s: %s", got, why)
			}
		})
	}
}

// A route, a neighbour entry or a sysctl is changed only if it is wrong for the pod that runs, by
// what the node verifies, whatever the plan says.
func TestReroutesAreDerived(t *testing.T) {
	t.Parallel()
	ip := netip.MustParseAddr("10.0.0.1")
	attached := func(sandbox string, peer int, mac string) model.Attachment {
		return model.Attachment{Sandbox: sandbox, Peer: peer, MAC: mac, IPs: []netip.Prefix{netip.PrefixFrom(ip, 32)}}
	}
	box := model.Sandbox{ID: boxID, Namespace: "shop", Pod: "db-0", UID: oldUID, Ready: true}
	const mac = "02:00:00:00:00:0a"
	route := func(link string) acting {
		return acting{ref: model.Ref{Kind: model.KindPath, Name: "n1/10.0.0.1"}, body: `{"ip":"10.0.0.1","routes":[]}`, change: &change.OnNode{Verb: "unroute", Args: map[string]string{"link": link, "protocol": "80"}}}
	}
	entry := func(m string) acting {
		return acting{ref: model.Ref{Kind: model.KindNeighbour, Name: "n1/10.0.0.1/cali7"}, body: `{"ip":"10.0.0.1","device":"cali7","link":7,"mac":"` + m + `"}`, change: &change.OnNode{Verb: "unneighbour", Args: map[string]string{"link": "7", "mac": m}}}
	}
	sysctl := func(index, key, value string) acting {
		return acting{ref: model.Ref{Kind: model.KindSysctl, Name: "n1/cali7/" + key}, body: `{"device":"cali7","index":` + index + `,"key":"` + key + `","value":"0"}`, change: &change.OnNode{Verb: "sysctl", Args: map[string]string{"index": index, "value": value}}}
	}
	right := []model.Attachment{attached(boxID, 7, mac)}
	for name, c := range map[string]struct {
		acting
		more func(*model.Verification)
		want string
	}{
		"a route to another interface":         {route("8"), nil, ""},
		"the right route":                      {route("7"), nil, "has 10.0.0.1 behind interface 7"},
		"a route without an interface":         {route("x"), nil, ""}, // the agent refuses it
		"a route to a pod of gVisor's":         {route("8"), func(v *model.Verification) { gVisor(v, ip) }, "was given 10.0.0.1 too"},
		"the entry of another MAC":             {entry("02:00:00:00:00:0b"), nil, ""},
		"the right entry":                      {entry(mac), nil, "has 10.0.0.1 behind interface 7"},
		"the right entry, in capitals":         {entry("02:00:00:00:00:0A"), nil, "has 10.0.0.1 behind interface 7"},
		"the pod's own interface":              {sysctl("7", "proxy_arp", "1"), nil, ""},
		"another pod's interface":              {sysctl("8", "proxy_arp", "1"), nil, "interface 8 of n1 is not connected"},
		"a sysctl that nobody needs":           {sysctl("7", "route_localnet", "1"), nil, "is not set on interfaces of pods"},
		"a route, and the agent means another": {acting{ref: model.Ref{Kind: model.KindPath, Name: "n1/10.0.0.1"}, body: `{"ip":"10.0.0.2"}`, change: &change.OnNode{Verb: "unroute", Args: map[string]string{"link": "8", "protocol": "80"}}}, nil, "differ about"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := c.acting
			a.proof = change.Proof{Running: &change.RunningPod{Namespace: "shop", Pod: "db-0", UID: oldUID, Node: "n1", Container: boxID, IPs: []netip.Addr{ip}}}
			a.pods = map[string]model.Object{"shop/db-0": aPod(oldUID, nil)}
			a.answer = func(v *model.Verification) error {
				v.Sandboxes, v.Attachments = []model.Sandbox{box}, right
				if c.more != nil {
					c.more(v)
				}
				return nil
			}
			if got, why, writes := a.run(t); (got == repair.Done) != (c.want == "") || (writes == 1) != (c.want == "") || !strings.Contains(why, c.want) {
				t.Errorf("%s: %s", got, why)
			}
		})
	}
}

// gVisor adds a pod that was given the address, and shows it to nobody.
func gVisor(v *model.Verification, ip netip.Addr) {
	v.Sandboxes = append(v.Sandboxes, model.Sandbox{ID: "gvisor", Namespace: "shop", Pod: "db-1", Ready: true})
	v.Results = append(v.Results, model.CNIResult{Container: "gvisor", IPs: []netip.Prefix{netip.PrefixFrom(ip, 32)}})
}

// podsFail is a Kubernetes that does not list pods of nodes.
type podsFail struct{ *cluster }

func (podsFail) PodsOn(context.Context, string) ([]model.Object, error) { return nil, errTest }

// What cannot be read is no consent.
func TestActingNeedsThePods(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	ref := model.Ref{Kind: model.KindMount, Name: "n1/bridge"}
	c.objects[ref] = model.Object{Ref: ref, Revision: "digest", Body: json.RawMessage(`{"device":"0:52","known":true}`)}
	p := &repair.Plan{
		Schema: repair.Schema, ID: "plan", Cluster: "cluster", Targets: []repair.Target{{Finding: "PL4004/n1/bridge", Risk: change.Disruptive}},
		Steps: []repair.Step{{ID: 1, Do: "abort", On: ref, For: []string{"PL4004/n1/bridge"}, Change: &change.OnNode{Verb: "abort", Args: map[string]string{"device": "0:52"}}}},
	}
	x := c.executor()
	x.NodeWriter, x.Pods, x.MaxRisk = nodeWriter{c}, podsFail{c}, change.Destructive
	if res, err := x.Run(t.Context(), p, nil); err != nil || c.writes != 0 || res.Findings["PL4004/n1/bridge"].Outcome == repair.Done {
		t.Errorf("%v: %+v", err, res)
	}
}
