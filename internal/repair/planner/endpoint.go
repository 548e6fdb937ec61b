package planner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

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
func (b *builder) endpointOf(t *runningPod, old *model.Endpoint) (change.Change, *repair.Refusal) {
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
func (b *builder) healthyLike(t *runningPod) (json.RawMessage, *repair.Refusal) {
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
