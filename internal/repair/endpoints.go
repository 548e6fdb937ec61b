package repair

import (
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
)

// planNoPod removes an endpoint that stands for no pod. Its address is left to the ledger's
// own findings: Calico would free it by the bare address, whoever has it by now.
func planNoPod(b *builder, f *finding.Finding) {
	e := b.endpointIn(f)
	if e == nil {
		b.refuse(f, "the endpoint is gone", "look again")
		return
	}
	if t, other := b.insteadOf(e); t != nil {
		target := b.target(f, Safe, t.proof())
		target.NoUndo = "the pod has its endpoint on the node where it is"
		b.step(removeEndpoints, f, "delete", e.Ref(), Change{Endpoint: &Endpoint{Container: e.ContainerID, Instead: other.Ref()}})
		return
	}
	d, no := b.endpointNotInUse(e)
	if no != nil {
		b.refuse(f, no.why, no.advice)
		return
	}
	target := b.target(f, Safe, Proof{NotInUse: d})
	target.NoUndo = "there is no pod to give the endpoint back to"
	for _, ip := range e.IPs {
		for pod := range b.view.PodsWith(ip) {
			target.Risk = Disruptive // Felix may have had to choose between the two
			target.Touches = append(target.Touches, pod.Namespace+"/"+pod.Name+" has "+ip.String()+" as well")
		}
	}
	b.step(removeEndpoints, f, "delete", e.Ref(), Change{Endpoint: &Endpoint{Container: e.ContainerID}})
}

// insteadOf finds the living pod that has an endpoint of the same sandbox on the node where
// it is, besides the one that names another node: written while a node was misnamed, it
// would stay for ever, for the pod's own DEL takes only the other.
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

// endpointNotInUse is the proof that the sandbox of an endpoint is gone, wherever it was.
func (b *builder) endpointNotInUse(e *model.Endpoint) (*NotInUse, *refusal) {
	v := b.view
	b.surveyNodes()
	node := v.NodeByName(e.Node)
	pod := v.PodByName(e.Namespace, e.Pod)
	switch {
	case e.Orchestrator != "k8s":
		return nil, refuse("", "it is not of Kubernetes but of %s", orText(e.Orchestrator, "nobody known"))
	case node == nil || v.Stranger(e.Node) || !b.ownHost(e.Node):
		return nil, refuse("Calico's node must name the Kubernetes node that it is (orchRefs)", "Calico's node %s is not known to be of this cluster", e.Node)
	case len(e.ContainerID) < 12:
		return nil, refuse("", "it names no sandbox that its node could be asked about")
	case pod != nil && (pod.Node == "" || v.SameNode(e.Node, pod.Node)):
		return nil, refuse("look again", "its pod is on %s by now", orText(pod.Node, "no node yet"))
	}
	for sandbox := range v.SandboxesOf(e.Namespace, e.Pod) {
		if sandbox.ID == e.ContainerID && (sandbox.Ready || sandbox.Inode != 0) {
			return nil, refuse("see what keeps it, and what the CNI configuration of "+sandbox.Node+" calls that node", "its sandbox lives, on %s", sandbox.Node)
		}
	}
	d := &NotInUse{Containers: []string{e.ContainerID}, Nodes: []string{node.Name}, All: b.nodes.renamed}
	if pod == nil {
		d.Gone = []PodIs{{Namespace: e.Namespace, Name: e.Pod}}
	} else if !slices.Contains(d.Nodes, pod.Node) {
		d.Nodes = append(d.Nodes, pod.Node)
	}
	for _, name := range b.nodes.silent {
		if d.All || slices.Contains(d.Nodes, name) {
			return nil, refuse("get its agent to answer", "node %s cannot be asked", name)
		}
	}
	return d, nil
}

// ownHost tells that Calico's node of that name says which node of this cluster it is: one
// etcd may serve several clusters, with nodes of the same names.
func (b *builder) ownHost(name string) bool {
	return slices.ContainsFunc(b.view.Snapshot().Hosts, func(h model.Host) bool { return h.Name == name && h.Kubernetes != "" })
}

// endpointIn finds the endpoint that a finding is about, by its pod: there may be very many.
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

// endpointRef names the endpoint of a tenant.
func (b *builder) endpointRef(t *runningPod) model.Ref {
	return model.Ref{Kind: model.KindEndpoint, Name: model.EndpointName(b.pluginName(t.pod.Node), t.pod)}
}

// pluginName is how the CNI plugin of a node calls the node, and so its endpoints.
func (b *builder) pluginName(node string) string {
	if c := b.view.CNISetupOn(node).Calicos; c != nil && c.NodeName != "" {
		return c.NodeName
	}
	if m := b.view.MachineOf(node); m != nil {
		return m.CalicoName
	}
	return ""
}

// endpointOf is the endpoint that the CNI plugin would have written for a tenant, or, of
// an old one that is right but for its sandbox, the change of that.
func (b *builder) endpointOf(t *runningPod, old *model.Endpoint) (*Change, *refusal) {
	name := b.pluginName(t.pod.Node)
	if name == "" || !b.view.SameNode(name, t.pod.Node) {
		return nil, refuse("repair that name first (PL5003)", "the CNI plugin of %s calls it %q", t.pod.Node, name)
	}
	if old != nil {
		if old.ContainerID == t.sandbox.ID {
			return nil, nil
		}
		if !sameMAC(old.MAC, t.inside.MAC) || !sameAddresses(old.IPs, t.ips) {
			return nil, refuse("end the pod when it suits", "the endpoint differs from the sandbox that runs in more than its name")
		}
	}
	if b.o.PodJSON == nil || b.o.EndpointJSON == nil {
		return nil, refuse("plan on the live cluster", "labels and ports of the pod cannot be read here")
	}
	raw, err := b.o.PodJSON(t.pod.Namespace, t.pod.Name)
	if err != nil {
		return nil, refuse("plan again", "read pod %s: %v", t.name(), err)
	}
	healthy, no := b.healthyLike(t)
	if no != nil {
		return nil, no
	}
	body, err := EndpointBody(PodSource{JSON: raw, UID: t.pod.UID}, NodeSource{
		Node: t.pod.Node, Name: name, Container: t.sandbox.ID, Device: t.outside.Name, MAC: t.inside.MAC, IPs: t.ips,
		UID: b.newUID(t), Created: b.o.Made,
	}, healthy)
	if err != nil {
		return nil, refuse("end the pod when it suits: Calico makes its endpoint anew", "%v", err)
	}
	e := &Endpoint{Want: body}
	if old != nil {
		e.Container = old.ContainerID
	}
	return &Change{Endpoint: e}, nil
}

// healthyLike reads an endpoint that the CNI plugin wrote for another pod, if it can be of
// the same node: what we write must be of the same make.
func (b *builder) healthyLike(t *runningPod) (json.RawMessage, *refusal) {
	no := refuse("end the pod when it suits: Calico makes its endpoint anew", "no endpoint of a running pod is there to show how Calico's plugin writes them here")
	tried := 0
	look := func(pod *model.Pod) json.RawMessage {
		e := b.healthyOf(t, pod)
		if e == nil {
			return nil
		}
		tried++
		raw, err := b.o.EndpointJSON(e.Namespace, e.Name)
		if err != nil { // where pods come and go it may just have gone: the next one will do
			no = refuse("plan again", "read endpoint %s/%s: %v", e.Namespace, e.Name, err)
			return nil
		}
		return raw
	}
	for pod := range b.view.PodsOn(t.pod.Node) {
		if raw := look(pod); raw != nil {
			return raw, nil
		}
		if tried == maxHealthy {
			return nil, no
		}
	}
	for i := int32(0); int(i) < b.view.Rows(model.Pods) && tried < maxHealthy; i++ {
		if raw := look(b.view.Pod(i)); raw != nil {
			return raw, nil
		}
	}
	return nil, no
}

// maxHealthy is how many are read before we say that none can be.
const maxHealthy = 8

// healthyOf gives the endpoint of another pod, if it is of the sandbox that runs.
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

// newUID is one that no other object has, and the same in every making of this plan.
func (b *builder) newUID(t *runningPod) string {
	sum := sha256.Sum256([]byte(b.o.ID + "/" + t.name() + "/" + t.pod.UID + "/" + t.sandbox.ID))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // version 8: made by ourselves
	x := hex.EncodeToString(sum[:16])
	return fmt.Sprintf("%s-%s-%s-%s-%s", x[:8], x[8:12], x[12:16], x[16:20], x[20:])
}

func sameMAC(a, b string) bool {
	x, y := hardware(a), hardware(b)
	return x != "" && x == y
}

var hardwareOK = regexp.MustCompile(`^([0-9a-f]{2}:){5}[0-9a-f]{2}$`)

// hardware is a MAC address as the kernel writes it; empty if it is none.
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
