package planner

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A runningPod is a pod with its running sandbox and interfaces on its node. Records are written from it.
type runningPod struct {
	pod     *model.Pod
	sandbox *model.Sandbox
	inside  *model.Attachment // pod interface of Calico
	outside *model.Link       // host veth
	network string            // network name in libcni's result: the first part of the handle
	ips     []netip.Addr      // in libcni's result, in its order; equal to those of inside
}

// podDevice is the only pod interface for which Calico keeps endpoints.
const podDevice = "eth0"

// runningPodNeeds are the tables of a node that must be complete before a record for its pods is planned.
var runningPodNeeds = []model.Table{
	model.Sandboxes, model.Attachments, model.Links, model.CNIConfigs, model.CNIResults, model.Processes, model.Machines,
}

// runningPodOf finds the sandbox and interfaces of a pod. It refuses if a record for the pod
// must not be written: a pod that is being deleted or whose sandbox is being replaced loses
// its record correctly.
func (b *builder) runningPodOf(pod *model.Pod) (*runningPod, *repair.Refusal) {
	v := b.view
	switch {
	case pod.VM != "":
		return nil, refuse("KubeVirt and Calico move the address of a VM between its pods", "the pod runs the VM %s", pod.VM)
	case !pod.Deleted.IsZero():
		return nil, refuse("wait until it is deleted", "the pod is being deleted")
	case pod.Phase != model.Running && pod.Phase != model.Pending:
		return nil, refuse("it uses no address any more", "the pod is %s", cmp.Or(string(pod.Phase), "in no phase"))
	case pod.HostNetwork:
		return nil, refuse("", "the pod uses the host network")
	case pod.UID == "" || pod.Node == "":
		return nil, refuse("", "the pod has no UID or no node yet")
	}
	for _, t := range runningPodNeeds {
		if !v.Sees(pod.Node, t) {
			return nil, refuse("plan again, or find out why the agent on "+pod.Node+" does not report them", "%s of %s were not checked%s", t, pod.Node, why(v, t, pod.Node))
		}
	}
	t := &runningPod{pod: pod, sandbox: v.RunningSandbox(pod)}
	if t.sandbox == nil {
		return nil, refuse("wait: the kubelet creates a new sandbox, or deletes the pod", "its newest sandbox on %s is not running", pod.Node)
	}
	if b.called(t.sandbox) {
		return nil, refuse("plan again in a minute", "a CNI call that may be for the pod is in progress on %s", pod.Node)
	}
	if no := t.findInterfaces(v); no != nil {
		return nil, no
	}
	return t, t.readCNIResult(v)
}

// callTime is how long a CNI call may take: the kubelet gives up on a sandbox after four
// minutes. An older call hangs, and affects only its own container.
const callTime = 6 * time.Minute

// called reports that a CNI call may be in progress for the pod of the sandbox. The runtime
// does not list a sandbox that is being created: only its CNI call is visible.
func (b *builder) called(sandbox *model.Sandbox) bool {
	v := b.view
	for pr := range v.ProcessesOn(sandbox.Node) {
		if pr.Why != "cni" {
			continue
		}
		of := v.SandboxNamed(sandbox.Node, pr.CNI)
		old := !pr.Since.IsZero() && v.Snapshot().Meta.Taken.Sub(pr.Since) >= callTime
		switch {
		case pr.Pod != "" && pr.Pod != sandbox.Namespace+"/"+sandbox.Pod: // for another pod, by its arguments
		case of != nil && (of.Namespace != sandbox.Namespace || of.Pod != sandbox.Pod):
		case of == nil && pr.CNI != "" && old:
		default:
			return true
		}
	}
	return false
}

// findInterfaces finds the pod interface and the host veth. Each must be the peer of the other.
func (t *runningPod) findInterfaces(v *model.View) *repair.Refusal {
	node := t.pod.Node
	device, foreign := v.DeviceOf(node, t.sandbox.ID)
	if foreign || v.CNISetupOn(node).Calicos == nil {
		return refuse("", "its network on %s is not managed by Calico", node)
	}
	if device != podDevice {
		return refuse("", "its Calico interface is %s, and Calico keeps endpoints for %s only", device, podDevice)
	}
	t.inside = v.Inside(node, t.sandbox.ID)
	if t.inside == nil || t.sandbox.Inode != 0 && t.inside.Inode != t.sandbox.Inode {
		return refuse("", "its sandbox has no interface %s", podDevice)
	}
	t.outside = v.LinkAt(node, t.inside.Peer)
	m := v.MachineOf(node)
	switch {
	case t.outside == nil || t.inside.Peer == 0:
		return refuse("", "the host has no veth for its %s", podDevice)
	case m != nil && m.NetNS != 0 && t.inside.PeerNS != 0 && t.inside.PeerNS != m.NetNS:
		return refuse("", "the peer of its %s is not in the host network namespace", podDevice)
	case t.outside.Peer != 0 && t.outside.Peer != t.inside.Index, t.outside.PeerNS != 0 && t.outside.PeerNS != t.inside.Inode:
		return refuse("", "host interface %s is not the peer of its %s", t.outside.Name, podDevice)
	case !strings.HasSuffix(t.outside.Name, model.DeviceName("", t.pod.Namespace, t.pod.Name)):
		return refuse("", "host interface %s does not have the name that Calico gives to this pod's interface", t.outside.Name)
	default:
		return nil
	}
}

// readCNIResult takes network and addresses from libcni's cached result. They must equal the
// addresses of the pod interface, and include those of the pod's status.
func (t *runningPod) readCNIResult(v *model.View) *repair.Refusal {
	setup := v.CNISetupOn(t.pod.Node)
	var record *model.CNIResult
	for r := range v.CNIResultsOf(t.pod.Node, t.sandbox.ID) {
		if r.Network == setup.Calicos.Network && r.Interface == podDevice {
			record = r
		}
	}
	if record == nil || record.Network == "" || len(record.IPs) == 0 {
		return refuse("delete the pod at a convenient time: a new sandbox has a result", "libcni has no cached result of sandbox %s, so its handle is not known", shortID(t.sandbox.ID))
	}
	t.network = record.Network
	for _, p := range record.IPs {
		t.ips = append(t.ips, p.Addr())
	}
	for _, p := range t.inside.IPs {
		if !slices.Contains(t.ips, p.Addr()) {
			return refuse("find out what added that address", "its %s has %s, which is not in the result of the CNI plugin", podDevice, p.Addr())
		}
	}
	for _, ip := range t.ips {
		if !t.inside.Has(ip) {
			return refuse("delete the pod at a convenient time", "its %s does not have %s any more", podDevice, ip)
		}
	}
	for _, ip := range t.pod.IPs {
		if !slices.Contains(t.ips, ip) {
			return refuse("delete the pod at a convenient time", "its status has %s, which its %s does not have", ip, podDevice)
		}
	}
	return nil
}

// handle is the handle ID by which the pod's DEL releases.
func (t *runningPod) handle() string { return t.network + "." + t.sandbox.ID }

func shortID(id string) string { return fmt.Sprintf("%.8s", id) }

func (t *runningPod) name() string { return t.pod.Namespace + "/" + t.pod.Name }

// proof is what must be verified before each write for the pod: it is running with exactly these addresses.
func (t *runningPod) proof() change.Proof {
	return change.Proof{Running: &change.RunningPod{
		Namespace: t.pod.Namespace, Pod: t.pod.Name, UID: t.pod.UID, Static: t.pod.Static,
		Node: t.pod.Node, Container: t.sandbox.ID, IPs: slices.Clone(t.ips), Device: t.outside.Name,
	}}
}

// prefixes gives its addresses as Calico writes them: /32 or /128.
func (t *runningPod) prefixes() []netip.Prefix {
	var out []netip.Prefix
	for _, ip := range t.ips {
		out = append(out, netip.PrefixFrom(ip, ip.BitLen()))
	}
	return out
}

// why says why a table of a node was not read, if that is known.
func why(v *model.View, t model.Table, node string) string {
	for _, c := range v.Coverage() {
		if c.Table == t && c.Node == node && c.Reason != "" {
			return ": " + c.Reason
		}
	}
	return ""
}
