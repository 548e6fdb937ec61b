package detect

import (
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// settledBoot is how long a node may take to come to rest after it was started, in seconds.
const settledBoot = 600

// kernelClass is how long to wait for what a node's kernel does: two of Felix' looks, or
// for ever where nobody knows whether Felix looks at all.
func kernelClass(p *Pass, node string) finding.Class {
	m := p.MachineOf(node)
	if m == nil || m.Felix != "ready" || m.Uptime < settledBoot {
		return finding.Node
	}
	return finding.Kernel
}

// reportKernel hands in a finding about a node's kernel, with the word of Felix.
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

// setting is one of Calico's settings on a node.
func setting(p *Pass, node, name string) string {
	if m := p.MachineOf(node); m != nil {
		return m.Settings[name]
	}
	return ""
}

// eBPF tells that Felix moves the node's packets past the kernel's own ways.
func eBPF(p *Pass, node string) bool {
	switch strings.ToLower(setting(p, node, "FELIX_BPFENABLED")) {
	case "true", "1", "yes", "y", "t":
		return true
	default:
		return false
	}
}

// prefixes are how the names of pods' devices begin on a node.
func prefixes(p *Pass, node string) []string {
	var out []string
	for s := range strings.SplitSeq(setting(p, node, "FELIX_INTERFACEPREFIX"), ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return []string{"cali"}
	}
	return out
}

// pair tells that a device is one end of two.
func pair(l *model.Link) bool { return l.Kind == "veth" || l.Kind == "netkit" }
