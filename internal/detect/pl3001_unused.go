package detect

import (
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL3001 finds host interfaces of pods that are gone.
var PL3001 = &Detector{
	Code: finding.PL3001, Title: "cali* interface that no pod uses", Severity: finding.Warning, Class: finding.Kernel,
	Each: []model.Table{model.Links},
	Needs: []model.Table{
		model.Links, model.Attachments, model.Sandboxes, model.Processes, model.CNIConfigs,
		model.Pods, model.PodPhase, model.PodNode, model.Endpoints,
	},
	Uses:    []model.Table{model.Machines},
	Applies: kernelIsCalicos, Since: "0.2", Run: unusedDevice,
}

func unusedDevice(p *Pass, _ model.Table, row int32) {
	l := p.Link(row)
	if !pair(l) || !slices.ContainsFunc(prefixes(p, l.Node), func(s string) bool { return strings.HasPrefix(l.Name, s) }) {
		return
	}
	behind, inUse := behindDevice(p, l)
	if inUse || p.CNISetupOn(l.Node).Calicos == nil || ofSomePod(p, l) || changing(p, l.Node, sandboxesOf(behind)...) {
		return
	}
	f := finding.Finding{Subject: l.Ref(), Evidence: []finding.Evidence{linkSays(l, "; no sandbox, process or pod uses it")}}
	switch {
	case len(behind) > 0:
		f.Summary = "its peer is in a network namespace without sandbox and process"
		for _, a := range behind {
			f.Evidence = append(f.Evidence, namespaceSays(a))
		}
	case onHost(p, l):
		f.Summary = "its peer is on the host, not in a pod"
	default:
		// A process may run in a network namespace that the agent cannot read.
		f.Summary, f.Class = "no pod uses it, and its peer was not found", finding.Node
	}
	reportKernel(p, l.Node, f)
}

// behindDevice returns the rows of the network namespace of the peer, and whether it is in
// use: by a process, or by a sandbox that the runtime lists, in any state.
func behindDevice(p *Pass, l *model.Link) (rows []*model.Attachment, inUse bool) {
	found := p.AttachmentsIn(l.Node, l.PeerNS)
	if l.PeerNS == 0 {
		found = p.AttachmentsBehind(l.Node, l.Index) // by index only: enough not to report it
	}
	for a := range found {
		if a.PIDs > 0 || a.Sandbox != "" && p.SandboxNamed(a.Node, a.Sandbox) != nil {
			return nil, true
		}
		if l.PeerNS != 0 {
			rows = append(rows, a)
		}
	}
	return rows, false
}

// sandboxesOf are the sandbox IDs of the network namespaces.
func sandboxesOf(rows []*model.Attachment) []string {
	var out []string
	for _, a := range rows {
		out = append(out, a.Sandbox)
	}
	return out
}

func onHost(p *Pass, l *model.Link) bool {
	m := p.MachineOf(l.Node)
	return m != nil && m.NetNS != 0 && m.NetNS == l.PeerNS
}

// ofSomePod reports whether a pod of the node has, or will get, an interface of that name.
// It is called only if nothing else uses the interface, because it reads all pods of the node.
func ofSomePod(p *Pass, l *model.Link) bool {
	for pod := range p.PodsOn(l.Node) {
		if pod.HostNetwork || pod.Finished() {
			continue
		}
		for _, prefix := range prefixes(p, l.Node) {
			if l.Name == model.DeviceName(prefix, pod.Namespace, pod.Name) {
				return true
			}
		}
		if !p.Calico.Etcd {
			continue
		}
		for e := range p.EndpointsOf(pod.Namespace, pod.Name) {
			if e.Device == l.Name {
				return true
			}
		}
	}
	return false
}
