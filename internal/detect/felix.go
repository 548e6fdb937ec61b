package detect

import (
	"cmp"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// settledBoot is how long after a boot the network of a node may still be set up, in seconds.
const settledBoot = 600

// kernelClass is the class of a finding about a node's kernel: Kernel (two of Felix'
// resyncs), or Node if Felix is not known to be ready or the node has just booted.
func kernelClass(p *Pass, node string) finding.Class {
	m := p.MachineOf(node)
	if m == nil || m.Felix != "ready" || m.Uptime < settledBoot {
		return finding.Node
	}
	return finding.Kernel
}

// reportKernel adds a finding about a node's kernel, with the state of Felix as evidence.
func reportKernel(p *Pass, node string, f finding.Finding) {
	f.Node = node
	if f.Class == "" {
		f.Class = kernelClass(p, node)
	}
	if m := p.MachineOf(node); m != nil {
		f.Evidence = append(f.Evidence, machineSays(m))
	}
	p.Report(f)
}

// setting is the value of an environment variable of calico-node on a node.
func setting(p *Pass, node, name string) string {
	if m := p.MachineOf(node); m != nil {
		return m.Settings[name]
	}
	return ""
}

// eBPF reports whether the node uses the eBPF data plane, which bypasses kernel routing.
func eBPF(p *Pass, node string) bool {
	switch strings.ToLower(setting(p, node, "FELIX_BPFENABLED")) {
	case "true", "1", "yes", "y", "t":
		return true
	case "": // its environment outweighs the datastore
		return p.Calico.Dataplane == "bpf"
	default:
		return false
	}
}

// prefixes are the interface name prefixes of pods on a node: from Felix' environment, else from
// its configuration in the datastore.
func prefixes(p *Pass, node string) []string {
	var out []string
	for s := range strings.SplitSeq(cmp.Or(setting(p, node, "FELIX_INTERFACEPREFIX"), p.Calico.InterfacePrefix), ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return []string{"cali"}
	}
	return out
}

// pair reports whether an interface is one end of a pair.
func pair(l *model.Link) bool { return l.Kind == "veth" || l.Kind == "netkit" }
