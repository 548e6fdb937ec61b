package detect

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// running returns the pod's running sandbox as its node's agent reports it. If seen is
// false, the sandboxes of the node were not read, and nil means unknown.
func running(p *Pass, pod *model.Pod) (box *model.Sandbox, seen bool) {
	if pod.Node == "" || !p.Sees(pod.Node, model.Sandboxes) {
		return nil, false
	}
	return p.RunningSandbox(pod), true
}

// stands reports whether the agent on the pod's node reports its running sandbox and no CNI
// call that may change it is in progress. Then a pod that is not ready counts like a ready one.
func stands(p *Pass, pod *model.Pod) bool {
	box, seen := running(p, pod)
	return seen && box != nil && !changing(p, box.Node, box.ID)
}

// inside returns Calico's interface in a sandbox and its addresses. If seen is false, the
// network namespaces of the node were not read, and nil means unknown.
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

// livesIn returns the running sandbox whose Calico interface has the address. Other
// interfaces in a pod do not count: a docker0 may have any address.
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

// receives returns the one of these pods with the same address to which its node's kernel
// sends the packets; nil if it is none of them, or if node state was not read.
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

// nameInConfig is the node name that the node's CNI plugin uses: from Calico's configuration
// in use, else from the nodename file. Empty if neither was read.
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
