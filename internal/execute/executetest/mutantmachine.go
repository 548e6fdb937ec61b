package executetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// machineMutants lack a check of what is changed on nodes.
var machineMutants = map[string]mutant{
	"layers-unseen":    {reads: func(_ *world, _ model.Ref, b map[string]any) { delete(b, "layers") }, sees: noLayers, but: "layers-unplanned", faults: []string{"hung-fuse"}, harm: `lies on it`},
	"users-guessed":    {reads: func(_ *world, _ model.Ref, b map[string]any) { b["known"] = true }, sees: allKnown, but: "users-unplanned", faults: []string{"hung-fuse"}, harm: `was aborted, and pod .* uses it`},
	"users-unasked":    {flaws: []string{"users"}, faults: []string{"hung-fuse"}, harm: `was aborted, and pod .* uses it`},
	"answers-unasked":  {flaws: []string{"answers"}, faults: []string{"hung-fuse"}, harm: `and it answered`},
	"kubelet-unasked":  {flaws: []string{"kubelet"}, faults: []string{"force-deleted", "orphan-sandbox"}, harm: `the kubelet has its pod`},
	"name-is-back":     {store: func(_ *run, r reach) execute.Store { return hidesNames{r} }, faults: []string{"orphan-sandbox"}, harm: `which its DEL names`},
	"busy-sandbox":     {nodes: asking(func(v *model.Verification, err error) error { v.Calls = nil; return err }), flaws: []string{"calls"}, faults: []string{"orphan-sandbox"}, harm: `was removed, and its (ADD|DEL) runs`},
	"plan-names":       {plan: removesRunning, flaws: []string{"kubelet", "name"}, reads: believesPlan, pods: func(r reach) execute.Pods { return noPods{r} }, but: "plan-names-asked", faults: []string{"orphan-sandbox"}, harm: `the kubelet has its pod|which its DEL names`},
	"right-route":      {plan: unroutesRight, flaws: []string{"owner"}, nodes: asking(nowhere), but: "right-route-asked", faults: []string{"stray-route"}, harm: `which has the address`},
	"right-neighbour":  {plan: forgetsRight, flaws: []string{"owner"}, nodes: asking(noMAC), but: "right-neighbour-asked", faults: []string{"static-neighbour"}, harm: `and it was that of`},
	"host-sysctl":      {plan: setsHost, nodes: asking(onUplink), but: "host-sysctl-asked", faults: []string{"proxy-arp-off"}, harm: `answers for others`},
	"restarts-at-once": {pods: func(r reach) execute.Pods { return allReady{noCalico{r}} }, faults: []string{"tunnels-taken"}, harm: `is not ready since`},
	"restarts-blindly": {pods: func(r reach) execute.Pods { return noCalico{r} }, faults: []string{"tunnels-taken"}, harm: `is not ready since`},
	"restarts-anybody": {plan: restartsAny, store: func(_ *run, r reach) execute.Store { return allCalico{r} }, but: "restarts-anybody-asked", faults: []string{"tunnels-taken"}, harm: `shares no address`},
}

// Their plans, with all checks of the executor.
func init() {
	for name, m := range map[string]mutant{
		"layers-unplanned": {sees: noLayers}, "users-unplanned": {sees: allKnown},
		"plan-names-asked":  {plan: removesRunning, flaws: []string{"kubelet", "name"}},
		"right-route-asked": {plan: unroutesRight, flaws: []string{"owner"}}, "right-neighbour-asked": {plan: forgetsRight, flaws: []string{"owner"}},
		"host-sysctl-asked": {plan: setsHost}, "restarts-anybody-asked": {plan: restartsAny},
	} {
		sound0[name] = m
	}
}

func noLayers(s *model.Snapshot) {
	for _, f := range s.NodeState {
		for i := range f.Mounts {
			f.Mounts[i].Layer = ""
		}
	}
}

func allKnown(s *model.Snapshot) {
	for _, f := range s.NodeState {
		for i := range f.Mounts {
			f.Mounts[i].Known = true
		}
	}
}

// hidesNames does not see a pod whose name an older sandbox has.
type hidesNames struct{ reach }

func (h hidesNames) Get(ctx context.Context, ref model.Ref) (model.Object, error) {
	o, err := h.reach.Get(ctx, ref)
	for _, n := range h.w.nodes {
		for _, b := range n.boxes {
			if podRef(b.ns, b.pod) == ref && b.uid != o.UID {
				return model.Object{Ref: ref}, err
			}
		}
	}
	return o, err
}

// believesPlan has agents report the names that removesRunning made up.
func believesPlan(_ *world, r model.Ref, b map[string]any) {
	if r.Kind == model.KindSandbox {
		b["namespace"], b["pod"] = "no", "where"
	}
}

type noPods struct{ reach }

func (noPods) PodsOn(context.Context, string) ([]model.Object, error) { return nil, nil }

type noCalico struct{ reach }

func (noCalico) CalicoNodes(context.Context) ([]model.Object, error) { return nil, nil }

// allReady takes every calico-node for Ready.
type allReady struct{ noCalico }

func (a allReady) PodsOn(ctx context.Context, node string) ([]model.Object, error) {
	all, err := a.reach.PodsOn(ctx, node)
	b, bad := json.Marshal(model.PodBody{Node: node, Owner: nodeOwner, Ready: true, HostNetwork: true})
	if bad != nil {
		panic(bad)
	}
	return append(all, model.Object{Ref: podRef("kube-system", "any"), UID: "any", Revision: "1", Body: b}), err
}

// allCalico takes every pod for one of calico-node.
type allCalico struct{ reach }

func (a allCalico) Get(ctx context.Context, ref model.Ref) (model.Object, error) {
	o, err := a.reach.Get(ctx, ref)
	var b model.PodBody
	if ref.Kind != model.KindPod || err != nil || !o.There() || json.Unmarshal(o.Body, &b) != nil {
		return o, err
	}
	b.Owner = nodeOwner
	o.Body, err = json.Marshal(b)
	return o, err
}

// nowhere is an answer in which no interface of a pod has a peer, noMAC one without MAC addresses, onUplink one in which all pods
// are behind eth0.
func nowhere(v *model.Verification, err error) error {
	for i := range v.Attachments {
		v.Attachments[i].Peer = 0
	}
	return err
}

func noMAC(v *model.Verification, err error) error {
	for i := range v.Attachments {
		v.Attachments[i].MAC = ""
	}
	return err
}

func onUplink(v *model.Verification, err error) error {
	for i := range v.Attachments {
		v.Attachments[i].Peer = uplink
	}
	return err
}

// adds appends a target about a running pod and a step that is not what the planner would write.
func adds(w *world, p *repair.Plan, code finding.Code, proof func(*kubelet) change.Proof, step func(*kubelet) (model.Ref, change.Change)) {
	k := w.runs()
	if k == nil || k.box.own || k.box.link == 0 || w.kube.get(podRef(k.ns, k.name)) == nil {
		return
	}
	f := fmt.Sprintf("%s/%s/%s", code, k.ns, k.name)
	if p.Target(f) != nil {
		return
	}
	on, c := step(k)
	p.Targets = append(p.Targets, repair.Target{Finding: f, Risk: change.Destructive, Proof: proof(k)})
	p.Steps = append(p.Steps, repair.Step{ID: len(p.Steps) + 1, Do: "do", On: on, For: []string{f}, Change: c})
}

// runsThere is the proof that a pod runs.
func runsThere(k *kubelet) change.Proof {
	return change.Proof{Running: &change.RunningPod{
		Namespace: k.ns, Pod: k.name, UID: k.uid, Node: k.n.name, Container: k.box.id, IPs: slices.SortedFunc(slices.Values(k.box.ips), netip.Addr.Compare), Device: deviceName(k.ns, k.name),
	}}
}

func unroutesRight(w *world, p *repair.Plan) {
	adds(w, p, finding.PL3003, runsThere, func(k *kubelet) (model.Ref, change.Change) {
		on := model.Ref{Kind: model.KindPath, Name: k.n.name + "/" + k.box.ips[0].String()}
		return on, &change.OnNode{Verb: "unroute", Args: map[string]string{"link": strconv.Itoa(k.box.link), "protocol": "80", "table": "254"}}
	})
}

func forgetsRight(w *world, p *repair.Plan) {
	adds(w, p, finding.PL3004, runsThere, func(k *kubelet) (model.Ref, change.Change) {
		k.n.entries = append(k.n.entries, entry{k.box.ips[0], k.box.link, podMAC})
		on := model.Ref{Kind: model.KindNeighbour, Name: k.n.name + "/" + k.box.ips[0].String() + "/" + deviceName(k.ns, k.name)}
		return on, &change.OnNode{Verb: "unneighbour", Args: map[string]string{"link": strconv.Itoa(k.box.link), "mac": podMAC}}
	})
}

func setsHost(w *world, p *repair.Plan) {
	adds(w, p, finding.PL3005, runsThere, func(k *kubelet) (model.Ref, change.Change) {
		on := model.Ref{Kind: model.KindSysctl, Name: k.n.name + "/eth0/proxy_arp"}
		return on, &change.OnNode{Verb: "sysctl", Args: map[string]string{"index": strconv.Itoa(uplink), "value": "1"}}
	})
}

func removesRunning(w *world, p *repair.Plan) {
	gone := func(k *kubelet) change.Proof {
		return change.Proof{NotInUse: &change.NotInUse{Gone: []change.PodIs{{Namespace: "no", Name: "where", UID: k.uid}}}}
	}
	adds(w, p, finding.PL4003, gone, func(k *kubelet) (model.Ref, change.Change) {
		return model.Ref{Kind: model.KindSandbox, Name: k.n.name + "/" + k.box.id}, &change.OnNode{Verb: "remove", Args: map[string]string{"uid": k.uid}}
	})
}

func restartsAny(w *world, p *repair.Plan) {
	adds(w, p, finding.PL1008, func(*kubelet) change.Proof { return change.Proof{} }, func(k *kubelet) (model.Ref, change.Change) {
		return podRef(k.ns, k.name), &change.Restart{UID: k.uid}
	})
}
