package detect

import (
	"crypto/sha1" //nolint:gosec // see vtepMAC
	"fmt"
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// A farNode is what Calico's records say of a node to which others send packets, by whether it is for
// IPv6.
type farNode struct {
	*model.Node
	ips     map[bool][]netip.Addr
	tunnels map[bool][]netip.Addr // of VXLAN
	mac     map[bool]string       // of VXLAN
	ipip    []netip.Addr          // addresses of its tunl0
	// announces means that its BIRD is not known to be down: then the others have no routes to it.
	announces bool
}

// far gives a node by Calico's or Kubernetes' name; nil if nothing can be said of ways to it. It is
// computed once for all nodes that send.
func (p *Pass) far(name string) *farNode {
	if f, there := p.fars[name]; there {
		return f
	}
	if p.fars == nil {
		p.fars = map[string]*farNode{}
	}
	p.fars[name] = newFarNode(p, name)
	return p.fars[name]
}

func newFarNode(p *Pass, name string) *farNode {
	n := p.NodeByName(name)
	if name == "" || n == nil || n.OS == "windows" || n.Virtual() {
		return nil
	}
	m := p.MachineOf(n.Name)
	f := &farNode{Node: n, announces: n.Ready && (m == nil || m.Felix == "" || m.Felix == "ready"), ips: map[bool][]netip.Addr{}, tunnels: map[bool][]netip.Addr{}, mac: map[bool]string{}}
	for _, ip := range p.CalicoIPsOf(n) {
		f.ips[ip.Is6()] = append(f.ips[ip.Is6()], ip)
	}
	for _, t := range p.TunnelsOf(n) {
		if t.Kind == "ipip" {
			f.ipip = append(f.ipip, t.IP)
		}
		if strings.HasPrefix(t.Kind, "vxlan") {
			f.tunnels[t.IP.Is6()] = append(f.tunnels[t.IP.Is6()], t.IP)
		}
	}
	for _, six := range []bool{false, true} {
		f.mac[six] = vtepMAC(p.CalicoName(n.Name), six)
	}
	return f
}

// vtepPrefix begins the MACs that Felix gives to VXLAN interfaces, unless another is configured.
const vtepPrefix = "66:"

// vtepMAC is the MAC that Felix gives to the VXLAN interface of a node.
func vtepMAC(node string, six bool) string {
	if six {
		node += "-v6"
	}
	sum := sha1.Sum([]byte(node)) //nolint:gosec // it is Felix's choice, and no secret
	return fmt.Sprintf("%s%02x:%02x:%02x:%02x:%02x", vtepPrefix, sum[0], sum[1], sum[2], sum[3], sum[4])
}
