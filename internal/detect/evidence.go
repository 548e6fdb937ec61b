package detect

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// Says is compared between a read and its reread. The functions below put into it what the
// finding depends on, and nothing that changes by itself (ages, counters, readiness).

func podSays(p *model.Pod) finding.Evidence {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, uid %s", orDash(string(p.Phase)), orDash(p.UID))
	if p.Node != "" {
		fmt.Fprintf(&b, ", on %s", p.Node)
	}
	if p.Ready {
		b.WriteString(", ready")
	}
	if !p.Deleted.IsZero() {
		b.WriteString(", being deleted")
	}
	fmt.Fprintf(&b, "; status %s", addrs(p.IPs))
	switch p.Annotation {
	case model.Absent:
	case model.Written:
		fmt.Fprintf(&b, "; annotation %s", addrs(p.Annotated))
	case model.Emptied, model.Garbled:
		fmt.Fprintf(&b, "; annotation %s", p.Annotation)
	}
	if p.ContainerID != "" {
		fmt.Fprintf(&b, " of sandbox %s", p.ContainerID)
	}
	return finding.Evidence{Ref: p.Ref(), Says: b.String(), Revision: p.Revision, Since: p.Written}
}

func noPod(namespace, name string) finding.Evidence {
	return finding.Evidence{Ref: model.Ref{Kind: model.KindPod, Name: namespace + "/" + name}, Says: "no such pod"}
}

// allocationSays describes the IPAM record of an address. It is unchanged at least since
// the block was last written.
func allocationSays(p *Pass, a *model.Allocation) finding.Evidence {
	b := p.BlockOf(a)
	says := fmt.Sprintf("#%d %s is held", a.Ordinal, a.IP)
	if at := p.AttributeOf(a); at == nil {
		says += fmt.Sprintf(" by attribute %d of %d, which does not exist", a.Attr, len(b.Attributes))
	} else {
		says += attributeSays(at)
	}
	if q := b.SequenceOf(a.Ordinal); q != 0 {
		says += fmt.Sprintf(", sequence %d", q)
	}
	return finding.Evidence{Ref: b.Ref(), Says: says, Revision: b.Revision, Since: b.Written}
}

func attributeSays(at *model.Attribute) string {
	says := " by no handle"
	if at.Handle != "" {
		says = " by handle " + at.Handle
	}
	if at.Pod != "" {
		says += fmt.Sprintf(" for pod %s/%s", at.Namespace, at.Pod)
	}
	if at.Service != "" {
		says += fmt.Sprintf(" for service %s/%s", at.Namespace, at.Service)
	}
	if at.Type != "" {
		says += " as " + at.Type
	}
	if at.Node != "" {
		says += " on " + at.Node
	}
	return says
}

// freeSays is the evidence that an address is not allocated: its block lists it as free, or
// it has no block.
func freeSays(p *Pass, ip netip.Addr) finding.Evidence {
	for b := range p.BlocksWith(ip) {
		return finding.Evidence{Ref: b.Ref(), Says: fmt.Sprintf("%s is free", ip), Revision: b.Revision, Since: b.Written}
	}
	return finding.Evidence{Ref: model.Ref{Kind: model.KindBlock, Name: blockFor(p, ip)}, Says: "no such block"}
}

// blockFor is the CIDR of the block that would hold the address, from its pool's block size.
func blockFor(p *Pass, ip netip.Addr) string {
	bits := model.DefaultBlockSize(ip)
	if pool := p.PoolWith(ip); pool != nil && pool.BlockSize > 0 {
		bits = pool.BlockSize
	}
	if q, err := ip.Prefix(bits); err == nil {
		return q.String()
	}
	return ip.String()
}

func unclaimed(ip netip.Addr) finding.Evidence {
	return finding.Evidence{Ref: model.Ref{Kind: model.KindAddress, Name: ip.String()}, Says: "no running pod, tunnel or service has it"}
}

func blockSays(b *model.Block, says string) finding.Evidence {
	return finding.Evidence{Ref: b.Ref(), Says: says, Revision: b.Revision, Since: b.Written}
}

func nodeSays(n *model.Node, says string) finding.Evidence {
	return finding.Evidence{Ref: n.Ref(), Says: says, Revision: n.Revision}
}

func noNode(name string) finding.Evidence {
	return finding.Evidence{Ref: model.Ref{Kind: model.KindNode, Name: name}, Says: "no such node"}
}

func handleSays(h *model.Handle, says string) finding.Evidence {
	return finding.Evidence{Ref: h.Ref(), Says: says, Revision: h.Revision, Since: h.Written}
}

func affinitySays(a *model.Affinity) finding.Evidence {
	says := fmt.Sprintf("%s for %s, %s", a.CIDR, a.Node, a.State)
	if a.Deleted {
		says += ", marked deleted"
	}
	return finding.Evidence{Ref: a.Ref(), Says: says, Revision: a.Revision, Since: a.Written}
}

func endpointSays(e *model.Endpoint) finding.Evidence {
	return finding.Evidence{
		Ref:      e.Ref(),
		Says:     fmt.Sprintf("for pod %s/%s on %s with %s of sandbox %s", e.Namespace, e.Pod, e.Node, addrs(e.IPs), orDash(e.ContainerID)),
		Revision: e.Revision, Since: e.Written,
	}
}

func addrs(as []netip.Addr) string {
	if len(as) == 0 {
		return "-"
	}
	sorted := slices.Clone(as)
	slices.SortFunc(sorted, netip.Addr.Compare)
	var out []string
	for _, a := range sorted {
		out = append(out, a.String())
	}
	return strings.Join(out, ",")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// family names a family of addresses.
func family(four bool) string {
	if four {
		return "IPv4"
	}
	return "IPv6"
}
