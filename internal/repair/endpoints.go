package repair

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planNoPod deletes an endpoint that has no pod. It does not release the address: that is
// the repair of PL1001. (Calico would release it by address, whoever owns it by now.)
func planNoPod(b *builder, f *finding.Finding) *Refusal {
	e := b.endpointIn(f)
	if e == nil {
		return &Refusal{Why: "the endpoint is gone", Advice: "run plumbline check again"}
	}
	if t, other := b.insteadOf(e); t != nil {
		target := b.target(f, change.Safe, t.proof())
		target.NoUndo = "the pod has its endpoint on the node that runs it"
		b.step(removeEndpoints, f, "delete", e.Ref(), &change.Endpoint{Container: e.ContainerID, Instead: other.Ref()})
		return nil
	}
	d, no := b.endpointNotInUse(e)
	if no != nil {
		return no
	}
	target := b.target(f, change.Safe, change.Proof{NotInUse: d})
	target.NoUndo = "the pod of the endpoint does not exist"
	for _, ip := range e.IPs {
		for pod := range b.view.PodsWith(ip) {
			target.Risk = change.Disruptive // Felix had two endpoints with one address
			target.Touches = append(target.Touches, pod.Namespace+"/"+pod.Name+" also has "+ip.String())
		}
	}
	b.step(removeEndpoints, f, "delete", e.Ref(), &change.Endpoint{Container: e.ContainerID})
	return nil
}

// insteadOf finds the running pod that has another endpoint with the same sandbox on the
// node that runs it. e names another node: it was written while a node had a wrong name.
// The pod's DEL deletes only the other endpoint, so e would never be deleted.
func (b *builder) insteadOf(e *model.Endpoint) (*runningPod, *model.Endpoint) {
	pod := b.view.PodByName(e.Namespace, e.Pod)
	if pod == nil || e.Orchestrator != "k8s" || b.view.NodeByName(e.Node) == nil || !b.ownHost(e.Node) || b.view.SameNode(e.Node, pod.Node) {
		return nil, nil
	}
	t, no := b.runningPodOf(pod)
	if no != nil || t.sandbox.ID != e.ContainerID {
		return nil, nil
	}
	own := b.endpointRef(t)
	for other := range b.view.EndpointsOf(e.Namespace, e.Pod) {
		if other.Ref() == own && other.ContainerID == t.sandbox.ID && b.view.SameNode(other.Node, pod.Node) {
			return t, other
		}
	}
	return nil, nil
}

// endpointNotInUse gives what must be verified before an endpoint is deleted: no node has its sandbox.
func (b *builder) endpointNotInUse(e *model.Endpoint) (*change.NotInUse, *Refusal) {
	v := b.view
	b.surveyNodes()
	node := v.NodeByName(e.Node)
	pod := v.PodByName(e.Namespace, e.Pod)
	switch {
	case e.Orchestrator != "k8s":
		return nil, refuse("", "the endpoint belongs to orchestrator %s, not to Kubernetes", cmp.Or(e.Orchestrator, "unknown"))
	case node == nil || v.Stranger(e.Node) || !b.ownHost(e.Node):
		return nil, refuse("set orchRefs of the Calico node to its Kubernetes node", "Calico node %s is not known to belong to this cluster", e.Node)
	case len(e.ContainerID) < 12:
		return nil, refuse("", "the endpoint names no sandbox that its node could verify")
	case pod != nil && (pod.Node == "" || v.SameNode(e.Node, pod.Node)):
		return nil, refuse("run plumbline check again", "its pod is now on %s", cmp.Or(pod.Node, "no node yet"))
	}
	for sandbox := range v.SandboxesOf(e.Namespace, e.Pod) {
		if sandbox.ID == e.ContainerID && (sandbox.Ready || sandbox.Inode != 0) {
			return nil, refuse("find out why the sandbox exists, and which nodename the CNI configuration of "+sandbox.Node+" has", "its sandbox exists on %s", sandbox.Node)
		}
	}
	d := &change.NotInUse{Containers: []string{e.ContainerID}, Nodes: []string{node.Name}, All: b.nodes.renamed}
	if pod == nil {
		d.Gone = []change.PodIs{{Namespace: e.Namespace, Name: e.Pod}}
	} else if !slices.Contains(d.Nodes, pod.Node) {
		d.Nodes = append(d.Nodes, pod.Node)
	}
	for _, name := range b.nodes.silent {
		if d.All || slices.Contains(d.Nodes, name) {
			return nil, refuse("make the agent on "+name+" answer", "live verification by the agent on %s is not possible", name)
		}
	}
	return d, nil
}

// ownHost reports that the Calico node of that name refers to a Kubernetes node of this
// cluster: one etcd may serve several clusters with equal node names.
func (b *builder) ownHost(name string) bool {
	return slices.ContainsFunc(b.view.Snapshot().Hosts, func(h model.Host) bool { return h.Name == name && h.Kubernetes != "" })
}

// endpointIn finds the endpoint of a finding. It looks up by pod first: there may be very many endpoints.
func (b *builder) endpointIn(f *finding.Finding) *model.Endpoint {
	for _, r := range f.About {
		ns, pod, ok := strings.Cut(r.Name, "/")
		if r.Kind != model.KindPod || !ok {
			continue
		}
		for e := range b.view.EndpointsOf(ns, pod) {
			if e.Ref() == f.Subject {
				return e
			}
		}
	}
	for _, row := range b.view.Find(model.Subject{Table: model.Endpoints, Ref: f.Subject}) {
		return b.view.Endpoint(row)
	}
	return nil
}

// endpointRef names the endpoint of a running pod.
func (b *builder) endpointRef(t *runningPod) model.Ref {
	return model.Ref{Kind: model.KindEndpoint, Name: model.EndpointName(b.pluginName(t.pod.Node), t.pod)}
}

// pluginName is the node name that the CNI plugin of a node writes into endpoints; empty if unknown.
func (b *builder) pluginName(node string) string {
	if c := b.view.CNISetupOn(node).Calicos; c != nil && c.NodeName != "" {
		return c.NodeName
	}
	if m := b.view.MachineOf(node); m != nil {
		return m.CalicoName
	}
	return ""
}

// endpointOf creates the endpoint that the CNI plugin would have written for a running pod.
// If old is right except for its sandbox, it changes only that. Nil with no refusal: nothing
// to change.
func (b *builder) endpointOf(t *runningPod, old *model.Endpoint) (change.Change, *Refusal) {
	name := b.pluginName(t.pod.Node)
	if name == "" || !b.view.SameNode(name, t.pod.Node) {
		return nil, refuse("correct that node name first (PL5003)", "the CNI plugin on %s uses the node name %q", t.pod.Node, name)
	}
	if old != nil {
		if old.ContainerID == t.sandbox.ID {
			return nil, nil
		}
		if !sameMAC(old.MAC, t.inside.MAC) || !sameAddresses(old.IPs, t.ips) {
			return nil, refuse("delete the pod at a convenient time", "the endpoint differs from the running sandbox in MAC or addresses too")
		}
	}
	if b.o.PodJSON == nil || b.o.EndpointJSON == nil {
		return nil, refuse("plan on the live cluster", "a snapshot does not have the labels and ports of the pod")
	}
	raw, err := b.o.PodJSON(t.pod.Namespace, t.pod.Name)
	if err != nil {
		return nil, refuse("plan again", "read pod %s: %v", t.name(), err)
	}
	healthy, no := b.healthyLike(t)
	if no != nil {
		return nil, no
	}
	body, err := writeEndpoint(podSource{JSON: raw, UID: t.pod.UID}, nodeSource{
		Node: t.pod.Node, Name: name, Container: t.sandbox.ID, Device: t.outside.Name, MAC: t.inside.MAC, IPs: t.ips,
		UID: b.newUID(t), Created: b.o.Made,
	}, healthy)
	if err != nil {
		return nil, refuse("delete the pod at a convenient time: Calico then creates its endpoint", "%v", err)
	}
	e := &change.Endpoint{Want: body}
	if old != nil {
		e.Container = old.ContainerID
	}
	return e, nil
}

// healthyLike reads an endpoint that the CNI plugin wrote for another running pod, first of
// the same node: endpointBody compares its own output with it.
func (b *builder) healthyLike(t *runningPod) (json.RawMessage, *Refusal) {
	no := refuse("delete the pod at a convenient time: Calico then creates its endpoint", "no other running pod has an endpoint to compare with")
	tried := 0
	read := func(pod *model.Pod) json.RawMessage {
		e := b.healthyOf(t, pod)
		if e == nil {
			return nil
		}
		tried++
		raw, err := b.o.EndpointJSON(e.Namespace, e.Name)
		if err != nil { // its pod may just be deleted: try the next one
			no = refuse("plan again", "read endpoint %s/%s: %v", e.Namespace, e.Name, err)
			return nil
		}
		return raw
	}
	for pod := range b.view.PodsOn(t.pod.Node) {
		if raw := read(pod); raw != nil {
			return raw, nil
		}
		if tried == maxHealthy {
			return nil, no
		}
	}
	for i := int32(0); int(i) < b.view.Rows(model.Pods) && tried < maxHealthy; i++ {
		if raw := read(b.view.Pod(i)); raw != nil {
			return raw, nil
		}
	}
	return nil, no
}

// maxHealthy is how many endpoints healthyLike tries to read.
const maxHealthy = 8

// healthyOf gives the endpoint of another pod if it names the running sandbox.
func (b *builder) healthyOf(t *runningPod, pod *model.Pod) *model.Endpoint {
	if pod == t.pod || pod.HostNetwork || pod.Node == "" {
		return nil
	}
	for e := range b.view.EndpointsOf(pod.Namespace, pod.Name) {
		sandbox := b.view.RunningSandbox(pod)
		if e.Orchestrator == "k8s" && b.view.SameNode(e.Node, pod.Node) && sandbox != nil && sandbox.ID == e.ContainerID {
			return e
		}
	}
	return nil
}

// newUID gives a unique UID that is the same whenever this plan is made again.
func (b *builder) newUID(t *runningPod) string {
	sum := sha256.Sum256([]byte(b.o.ID + "/" + t.name() + "/" + t.pod.UID + "/" + t.sandbox.ID))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // UUID version 8
	x := hex.EncodeToString(sum[:16])
	return fmt.Sprintf("%s-%s-%s-%s-%s", x[:8], x[8:12], x[12:16], x[16:20], x[20:])
}

func sameMAC(a, b string) bool {
	x, y := hardware(a), hardware(b)
	return x != "" && x == y
}

var hardwareOK = regexp.MustCompile(`^([0-9a-f]{2}:){5}[0-9a-f]{2}$`)

// hardware gives a MAC address as the kernel formats it; empty if it is not one.
func hardware(s string) string {
	if s = strings.ToLower(s); !hardwareOK.MatchString(s) {
		return ""
	}
	return s
}

func sameAddresses(a, b []netip.Addr) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortFunc(a, netip.Addr.Compare)
	slices.SortFunc(b, netip.Addr.Compare)
	return slices.Equal(a, b)
}
