package repair

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// A tenant is a living pod in its place on its node: what a record about it is made from.
type runningPod struct {
	pod     *model.Pod
	sandbox *model.Sandbox
	inside  *model.Attachment // Calico's device in the pod
	outside *model.Link       // its other end, on the host
	network string            // by libcni's record: handles begin with it
	ips     []netip.Addr      // as the plugin gave them, in its order
}

// A refusal is why something is not planned, and what a person can do.
type refusal struct{ why, advice string }

func refuse(advice, format string, args ...any) *refusal {
	return &refusal{fmt.Sprintf(format, args...), advice}
}

// Calico knows one device of a pod, of this name.
const podDevice = "eth0"

// What must have been seen of a node before anything of its pods is recorded.
var runningPodNeeds = []model.Table{
	model.Sandboxes, model.Attachments, model.Links, model.CNIConfigs, model.CNIResults, model.Processes, model.Machines,
}

// runningPodOf finds a pod's place. It objects where one of the conditions does not hold under
// which a record of it may be written: a pod that ends, or whose sandbox is being replaced,
// loses its record rightly.
func (b *builder) runningPodOf(pod *model.Pod) (*runningPod, *refusal) {
	v := b.view
	switch {
	case pod.VM != "":
		return nil, refuse("KubeVirt and Calico hand a machine's address from pod to pod", "it runs the machine %s", pod.VM)
	case !pod.Deleted.IsZero():
		return nil, refuse("it will be gone", "the pod is being deleted")
	case pod.Phase != model.Running && pod.Phase != model.Pending:
		return nil, refuse("it uses no address any more", "the pod is %s", orText(string(pod.Phase), "in no phase"))
	case pod.HostNetwork:
		return nil, refuse("", "the pod uses the network of its node")
	case pod.UID == "" || pod.Node == "":
		return nil, refuse("", "the pod has no UID or no node yet")
	}
	for _, t := range runningPodNeeds {
		if !v.Sees(pod.Node, t) {
			return nil, refuse("see why the agent of "+pod.Node+" does not answer", "%s of %s were not seen", t, pod.Node)
		}
	}
	t := &runningPod{pod: pod, sandbox: v.RunningSandbox(pod)}
	if t.sandbox == nil {
		return nil, refuse("its kubelet makes it another, or ends it", "its newest sandbox on %s does not run", pod.Node)
	}
	if b.called(t.sandbox) {
		return nil, refuse("plan again in a minute", "a CNI call that may be for it is under way on %s", pod.Node)
	}
	if no := t.findInterfaces(v); no != nil {
		return nil, no
	}
	return t, t.readCNIResult(v)
}

// callTime is how long a CNI call may take; the kubelet gives up on a sandbox after four
// minutes. One that is older hangs, and concerns only what it is for.
const callTime = 6 * time.Minute

// called tells that a CNI call may be working on the sandbox's pod. A sandbox in the making
// is in no list: only its call is.
func (b *builder) called(sandbox *model.Sandbox) bool {
	v := b.view
	for pr := range v.ProcessesOn(sandbox.Node) {
		if pr.Why != "cni" {
			continue
		}
		of := v.SandboxNamed(sandbox.Node, pr.CNI)
		old := !pr.Since.IsZero() && v.Snapshot().Meta.Taken.Sub(pr.Since) >= callTime
		switch {
		case pr.Pod != "" && pr.Pod != sandbox.Namespace+"/"+sandbox.Pod: // another's, by its own word
		case of != nil && (of.Namespace != sandbox.Namespace || of.Pod != sandbox.Pod):
		case of == nil && pr.CNI != "" && old:
		default:
			return true
		}
	}
	return false
}

// look finds the device in the pod and its other end, each by what the other says.
func (t *runningPod) findInterfaces(v *model.View) *refusal {
	node := t.pod.Node
	device, foreign := v.DeviceOf(node, t.sandbox.ID)
	if foreign || v.CNISetupOn(node).Calicos == nil {
		return refuse("", "its network on %s is not Calico's", node)
	}
	if device != podDevice {
		return refuse("", "its device of Calico's is %s, and Calico keeps endpoints of %s only", device, podDevice)
	}
	t.inside = v.Inside(node, t.sandbox.ID)
	if t.inside == nil || t.sandbox.Inode != 0 && t.inside.Inode != t.sandbox.Inode {
		return refuse("", "its sandbox has no %s", podDevice)
	}
	t.outside = v.LinkAt(node, t.inside.Peer)
	m := v.MachineOf(node)
	switch {
	case t.outside == nil || t.inside.Peer == 0:
		return refuse("", "the host has no device for its %s", podDevice)
	case m != nil && m.NetNS != 0 && t.inside.PeerNS != 0 && t.inside.PeerNS != m.NetNS:
		return refuse("", "the other end of its %s is not in the host's namespace", podDevice)
	case t.outside.Peer != 0 && t.outside.Peer != t.inside.Index, t.outside.PeerNS != 0 && t.outside.PeerNS != t.inside.Inode:
		return refuse("", "%s of the host is not the other end of its %s", t.outside.Name, podDevice)
	case !strings.HasSuffix(t.outside.Name, model.DeviceName("", t.pod.Namespace, t.pod.Name)):
		return refuse("", "%s is not what Calico calls the device of this pod", t.outside.Name)
	default:
		return nil
	}
}

// remember takes network and addresses from libcni's record, and holds them against what
// the device really has.
func (t *runningPod) readCNIResult(v *model.View) *refusal {
	setup := v.CNISetupOn(t.pod.Node)
	var record *model.CNIResult
	for r := range v.CNIResultsOf(t.pod.Node, t.sandbox.ID) {
		if r.Network == setup.Calicos.Network && r.Interface == podDevice {
			record = r
		}
	}
	if record == nil || record.Network == "" || len(record.IPs) == 0 {
		return refuse("end the pod when it suits: a new sandbox has a record", "libcni has no record of sandbox %s, so the name of its handle is not known", short(t.sandbox.ID))
	}
	t.network = record.Network
	for _, p := range record.IPs {
		t.ips = append(t.ips, p.Addr())
	}
	for _, p := range t.inside.IPs {
		if !slices.Contains(t.ips, p.Addr()) {
			return refuse("see what gave it that address", "its %s has %s, which no plugin gave it", podDevice, p.Addr())
		}
	}
	for _, ip := range t.ips {
		if !t.inside.Has(ip) {
			return refuse("end the pod when it suits", "its %s does not have %s any more", podDevice, ip)
		}
	}
	for _, ip := range t.pod.IPs {
		if !slices.Contains(t.ips, ip) {
			return refuse("end the pod when it suits", "its status says %s, which its %s does not have", ip, podDevice)
		}
	}
	return nil
}

// handle is what the pod's own DEL will look for.
func (t *runningPod) handle() string { return t.network + "." + t.sandbox.ID }

func (t *runningPod) name() string { return t.pod.Namespace + "/" + t.pod.Name }

// proof is that it still lives like this.
func (t *runningPod) proof() Proof {
	return Proof{Running: &RunningPod{
		Namespace: t.pod.Namespace, Pod: t.pod.Name, UID: t.pod.UID, Static: t.pod.Static,
		Node: t.pod.Node, Container: t.sandbox.ID, IPs: slices.Clone(t.ips), Device: t.outside.Name,
	}}
}

// prefixes are its addresses as Calico writes them.
func (t *runningPod) prefixes() []netip.Prefix {
	var out []netip.Prefix
	for _, ip := range t.ips {
		out = append(out, netip.PrefixFrom(ip, ip.BitLen()))
	}
	return out
}
