package detect

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// running gives the sandbox that runs for a pod by the word of its node: ready, of this
// very pod and not of one of the same name, the newest of several. Seen is false where
// the node's runtime was not seen: then nothing follows from there being none.
func running(p *Pass, pod *model.Pod) (box *model.Sandbox, seen bool) {
	if pod.Node == "" || !p.Sees(pod.Node, model.Sandboxes) {
		return nil, false
	}
	return runningSandbox(p, pod), true
}

// changing tells that the node may be making or taking down a sandbox right now: one in
// the making is in no list, only its CNI call is.
func changing(p *Pass, node string) bool {
	if !p.Sees(node, model.Processes) {
		return true
	}
	for pr := range p.ProcessesOn(node) {
		if pr.Why == "cni" {
			return true
		}
	}
	return false
}

// stands tells that the node itself shows the pod's sandbox, and that nothing is being
// done there: then a pod that is not ready is as good a witness as one that is.
func stands(p *Pass, pod *model.Pod) bool {
	box, seen := running(p, pod)
	return seen && box != nil && !changing(p, pod.Node)
}

// inside gives the addresses of Calico's device inside a sandbox, and that device; seen
// is false where the namespaces of the node were not seen.
func inside(p *Pass, box *model.Sandbox) (ips []netip.Addr, at *model.Attachment, seen bool) {
	if box == nil || !p.Sees(box.Node, model.Attachments) {
		return nil, nil, false
	}
	for a := range p.AttachmentsOf(box.ID) {
		if a.Device != "eth0" {
			continue
		}
		for _, ip := range a.IPs {
			ips = append(ips, ip.Addr())
		}
		return ips, a, true
	}
	return nil, nil, true
}

// livesIn gives the sandbox that has the address inside, of those that run.
func livesIn(p *Pass, ip netip.Addr) (*model.Sandbox, *model.Attachment) {
	for a := range p.AttachmentsWith(ip) {
		if box := p.SandboxNamed(a.Sandbox); box != nil && box.Ready && box.Node == a.Node {
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
		if path := p.PathTo(pod.Node, ip); path != nil && path.Error == "" && path.Link == at.Peer && slices.ContainsFunc(at.IPs, func(q netip.Prefix) bool { return q.Addr() == ip }) {
			return pod
		}
	}
	return nil
}

// nameInConfig is the name by which a node's CNI plugin calls the node: in the loaded
// configuration, else in the file that Calico keeps it in. Empty if that was not seen.
func nameInConfig(p *Pass, node string) string {
	if !p.Sees(node, model.CNIConfigs, model.Machines) {
		return ""
	}
	for c := range p.CNIConfigsOn(node) {
		if c.Loaded && c.NodeName != "" {
			return c.NodeName
		}
	}
	if m := p.MachineOf(node); m != nil {
		return m.CalicoName
	}
	return ""
}

// eight are the digits by which a person tells container IDs apart.
func eight(id string) string { return id[:min(len(id), 8)] }
