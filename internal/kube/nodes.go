package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/internal/scrub"
)

// Nodes reads all nodes.
type Nodes struct{ Client *Client }

// Name is the name in progress output.
func (Nodes) Name() string { return "nodes" }

// Tables lists the tables that it fills.
func (Nodes) Tables() []model.Table { return []model.Table{model.Nodes} }

// Collect reads nodes in protobuf format, one at a time.
func (c Nodes) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	var out []model.Node
	a, err := c.Client.list(ctx, allNodes, nil, acceptProto, eachProto, func(item []byte) error {
		n, err := pickNode(item)
		if err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
		out = append(out, n)
		return nil
	})
	if err != nil {
		return observe.ReadInfo{}, err
	}
	b.Add(func(s *model.Snapshot) { s.Nodes = out })
	return a, nil
}

// tunnels lists the annotations with a node's tunnel addresses, with the kind as it is in
// the handle.
var tunnels = []struct{ annotation, kind string }{
	{"projectcalico.org/IPv4IPIPTunnelAddr", "ipip"},
	{"projectcalico.org/IPv4VXLANTunnelAddr", "vxlan"},
	{"projectcalico.org/IPv6VXLANTunnelAddr", "vxlan-v6"},
	{"projectcalico.org/IPv4WireguardInterfaceAddr", "wireguard"},
	{"projectcalico.org/IPv6WireguardInterfaceAddr", "wireguard-v6"},
}

// calicoIPs are the annotations with a node's addresses in Calico, as prefixes.
var calicoIPs = []string{"projectcalico.org/IPv4Address", "projectcalico.org/IPv6Address"}

// calicoIP notes an address of a node in Calico.
func calicoIP(n *model.Node, prefix string) {
	if p, err := netip.ParsePrefix(prefix); err == nil {
		n.CalicoIPs = append(n.CalicoIPs, p.Addr().Unmap())
	}
}

// ObjectMeta is the part of an object's metadata that is read.
type ObjectMeta struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	CreationTimestamp model.Time        `json:"creationTimestamp"`
	Annotations       map[string]string `json:"annotations"`
}

// readiness notes the Ready condition. The kubelet's message matters only if it is not true.
func readiness(n *model.Node, status, message string, changed model.Time) {
	n.Ready, n.Silent, n.Changed = status == "True", status == "Unknown", changed
	if !n.Ready {
		n.Why = Readable(scrub.String(message))
	}
}

// ParseNode reads a node in JSON.
func ParseNode(b []byte) (model.Node, error) {
	var o struct {
		Metadata ObjectMeta `json:"metadata"`
		Spec     struct {
			PodCIDRs []string `json:"podCIDRs"`
			Taints   []struct {
				Key    string `json:"key"`
				Effect string `json:"effect"`
			} `json:"taints"`
		} `json:"spec"`
		Status struct {
			Conditions []struct {
				Type               string     `json:"type"`
				Status             string     `json:"status"`
				Message            string     `json:"message"`
				LastTransitionTime model.Time `json:"lastTransitionTime"`
			} `json:"conditions"`
			Addresses []struct {
				Type    string `json:"type"`
				Address string `json:"address"`
			} `json:"addresses"`
			NodeInfo struct {
				BootID          string `json:"bootID"`
				OperatingSystem string `json:"operatingSystem"`
			} `json:"nodeInfo"`
		} `json:"status"`
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return model.Node{}, fmt.Errorf("node %s: %w", o.Metadata.Name, err)
	}
	n := model.Node{
		Name: o.Metadata.Name, UID: o.Metadata.UID, Revision: o.Metadata.ResourceVersion, Created: o.Metadata.CreationTimestamp,
		BootID: o.Status.NodeInfo.BootID, OS: o.Status.NodeInfo.OperatingSystem,
	}
	for _, t := range o.Spec.Taints {
		n.Taints = append(n.Taints, t.Key+":"+t.Effect)
	}
	for _, c := range o.Status.Conditions {
		if c.Type == "Ready" {
			readiness(&n, c.Status, c.Message, c.LastTransitionTime)
		}
	}
	for _, c := range o.Spec.PodCIDRs {
		if p, err := netip.ParsePrefix(c); err == nil {
			n.PodCIDRs = append(n.PodCIDRs, p)
		}
	}
	for _, a := range o.Status.Addresses {
		if ip, err := netip.ParseAddr(a.Address); err == nil && a.Type == "InternalIP" {
			n.Addresses = append(n.Addresses, ip)
		}
	}
	for _, annotation := range calicoIPs {
		calicoIP(&n, o.Metadata.Annotations[annotation])
	}
	for _, t := range tunnels {
		if ip, err := netip.ParseAddr(o.Metadata.Annotations[t.annotation]); err == nil {
			n.Tunnels = append(n.Tunnels, model.Tunnel{Kind: t.kind, IP: ip.Unmap()})
		}
	}
	return n, nil
}
