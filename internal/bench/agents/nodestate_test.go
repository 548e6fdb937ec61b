//go:build e2e

package agents

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // Calico derives interface names with it
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// What all nodes have in common.
const (
	network  = "k8s-pod-network"
	hostNS   = 4026531840 // inode of the host's network namespace
	hostMAC  = "ee:ee:ee:ee:ee:ee"
	card     = 2 // the host's own interface
	insideAt = 3 // index of a pod's own interface
	overlay  = 4 // the host's VXLAN interface
)

var (
	gateway = netip.MustParseAddr("169.254.1.1")
	router  = netip.MustParseAddr("172.31.255.254")
	all4    = netip.MustParsePrefix("0.0.0.0/0")
	inside  = []model.Route{{Dst: all4, Gateway: gateway, Link: insideAt, Table: 254}, {Dst: single(gateway), Link: insideAt, Table: 254, Scope: "link"}}
)

// nodeState returns the state of a healthy node.
func (h *host) nodeState() *model.NodeState {
	f := &model.NodeState{
		Machines: []model.Machine{{
			BootID: "boot-" + h.name, Uptime: 900_000, NodeName: h.name, CalicoName: h.name, NetNS: hostNS, Felix: "ready", Plugin: "v3.31.0",
			Settings: map[string]string{"FELIX_BPFENABLED": "false"}, Summed: true, Ways: h.ways,
		}},
		CNIConfigs: []model.CNIConfig{{File: "10-calico.conflist", Network: network, Loaded: true, Plugins: []string{"calico", "portmap"}, NodeName: h.name, IPAM: "calico-ipam"}},
		Links:      []model.Link{{Index: 1, Name: "lo", Up: true, MTU: 65536}, {Index: card, Name: "eth0", Up: true, IPs: []netip.Prefix{single(h.ip)}}, {Index: overlay, Name: "vxlan.calico", Kind: "vxlan", Up: true, MTU: 1450, IPs: []netip.Prefix{single(h.tunnel)}}},
		Routes:     []model.Route{{Dst: all4, Gateway: router, Link: card, Table: 254}},
		Sysctls:    []model.Sysctl{{Device: "all", Key: "proxy_arp", Value: "1"}},
		Processes:  []model.Process{{PID: 100, Name: "calico-node", Why: "felix", State: "S"}},
	}
	for _, call := range []string{"Version", "Status", "ListPodSandbox", "ListContainers"} {
		f.Runtimes = append(f.Runtimes, model.Runtime{Call: call, Name: "containerd 2.2", Millis: 3})
	}
	for i, p := range h.pods {
		seat(f, p, i, h.ip)
	}
	if h.agent != nil {
		f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: sandboxOf(h.agent), Namespace: h.agent.Namespace, Pod: h.agent.Name, UID: h.agent.UID, Ready: true, HostNetwork: true, Inode: hostNS})
	}
	return f
}

// seat adds the node state of a running pod.
func seat(f *model.NodeState, p *model.Pod, number int, node netip.Addr) {
	id, index, inode := p.ContainerID, 10+number, 4026532000+uint64(number)
	sum := sha1.Sum([]byte(p.Namespace + "." + p.Name)) //nolint:gosec // see above
	name, ip := "cali"+hex.EncodeToString(sum[:])[:11], p.IPs[0]
	f.Attachments = append(f.Attachments, model.Attachment{
		Sandbox: id, NetNS: "/run/netns/cni-" + id[:12], Inode: inode, PIDs: 2, Pinned: true, Device: "eth0", Index: insideAt, Peer: index, PeerNS: hostNS,
		MAC: fmt.Sprintf("0a:%02x:%02x:%02x:%02x:%02x", node.As4()[1], node.As4()[2], node.As4()[3], number>>8, number&255), Up: true, IPs: []netip.Prefix{single(ip)},
		Routes: inside,
	})
	f.CNIResults = append(f.CNIResults, model.CNIResult{Network: network, Container: id, Interface: "eth0", IPs: []netip.Prefix{single(ip)}})
	f.Links = append(f.Links, model.Link{Index: index, Name: name, Kind: "veth", MAC: hostMAC, Up: true, Peer: insideAt, PeerNS: inode})
	f.Paths = append(f.Paths, model.Path{IP: ip, Link: index, Table: 254})
	f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: id, Namespace: p.Namespace, Pod: p.Name, UID: p.UID, Ready: true, NetNS: "/run/netns/cni-" + id[:12], Inode: inode, PID: 1000 + number})
}

func single(ip netip.Addr) netip.Prefix { return netip.PrefixFrom(ip, ip.BitLen()) }

// sandboxOf creates a sandbox ID for a pod with hostNetwork.
func sandboxOf(p *model.Pod) string {
	sum := sha1.Sum([]byte(p.UID)) //nolint:gosec // only a name
	return hex.EncodeToString(sum[:]) + hex.EncodeToString(sum[:12])
}

// tables encodes a node's state as the body of the agent's answer, with some tables' coverage.
func (h *host) tables(f *model.NodeState, now time.Time, tables []model.Table) ([]byte, error) {
	s := &model.Snapshot{Meta: model.Meta{Schema: model.Schema, Taken: model.At(now)}, NodeState: map[string]*model.NodeState{h.name: f}}
	for _, t := range tables {
		s.Coverage = append(s.Coverage, model.Coverage{Table: t, Node: h.name, State: model.Complete, At: s.Meta.Taken})
	}
	var b bytes.Buffer
	err := snapshotio.WriteBundle(&b, s)
	return b.Bytes(), err
}
