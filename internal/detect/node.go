package detect

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// running gives the sandbox that runs for a pod by the word of its node. Seen is false
// where the node's runtime was not seen: then nothing follows from there being none.
func running(p *Pass, pod *model.Pod) (box *model.Sandbox, seen bool) {
	if pod.Node == "" || !p.Sees(pod.Node, model.Sandboxes) {
		return nil, false
	}
	return p.RunningSandbox(pod), true
}

// stands tells that the node itself shows the pod's sandbox, and that nothing is being
// done there: then a pod that is not ready is as good a witness as one that is.
func stands(p *Pass, pod *model.Pod) bool {
	box, seen := running(p, pod)
	return seen && box != nil && !changing(p, box.Node, box.ID)
}

// inside gives the addresses of Calico's device inside a sandbox, and that device; seen
// is false where the namespaces of the node were not seen.
func inside(p *Pass, box *model.Sandbox) (ips []netip.Addr, at *model.Attachment, seen bool) {
	if box == nil || !p.Sees(box.Node, model.Attachments) {
		return nil, nil, false
	}
	at = p.Inside(box.Node, box.ID)
	if at == nil {
		return nil, nil, true
	}
	for _, ip := range at.IPs {
		ips = append(ips, ip.Addr())
	}
	return ips, at, true
}

// livesIn gives the sandbox, of those that run, whose device of Calico's has the address.
// What else is inside is the pod's own: a docker0 may have any address.
func livesIn(p *Pass, ip netip.Addr) (*model.Sandbox, *model.Attachment) {
	for a := range p.AttachmentsWith(ip) {
		box := p.SandboxNamed(a.Node, a.Sandbox)
		if box == nil || !box.Ready {
			continue
		}
		if device, _ := p.DeviceOf(a.Node, a.Sandbox); a.Device == device {
			return box, a
		}
	}
	return nil, nil
}

// receives gives the pod, of those that share an address, that the node's kernel really
// sends its packets to; nil if that is none of them or was not seen.
func receives(p *Pass, pods []*model.Pod, ip netip.Addr) *model.Pod {
	for _, pod := range pods {
		box, _ := running(p, pod)
		_, at, seen := inside(p, box)
		if !seen || at == nil || !p.Sees(pod.Node, model.Paths) {
			continue
		}
		if path := p.PathTo(pod.Node, ip); path != nil && path.Error == "" && path.Link == at.Peer && at.Has(ip) {
			return pod
		}
	}
	return nil
}

// nameInConfig is the name by which a node's CNI plugin calls the node: in Calico's
// configuration that is in use, else in the file that Calico keeps it in. Empty if that
// was not seen.
func nameInConfig(p *Pass, node string) string {
	if !p.Sees(node, model.CNIConfigs, model.Machines) {
		return ""
	}
	if c := p.CNISetupOn(node).Calicos; c != nil && c.NodeName != "" {
		return c.NodeName
	}
	if m := p.MachineOf(node); m != nil {
		return m.CalicoName
	}
	return ""
}
