package audit_test

import (
	"crypto/sha1" //nolint:gosec // Calico names devices by it
	"encoding/hex"
	"fmt"
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// What every node has in common.
const (
	hostNS   = 4026531840 // inode of the host's network namespace
	hostMAC  = "ee:ee:ee:ee:ee:ee"
	card     = 2 // the host's own device
	overlay  = 5 // vxlan.calico
	insideAt = 3 // number of a pod's own device
	network  = "k8s-pod-network"
)

var (
	gateway = netip.MustParseAddr("169.254.1.1")
	router  = netip.MustParseAddr("192.168.0.254")
	linkIP6 = netip.MustParseAddr("fe80::ecee:eeff:feee:eeee")
	all4    = netip.MustParsePrefix("0.0.0.0/0")
	all6    = netip.MustParsePrefix("::/0")
)

// A pod's devices and namespace have a number on their node.
func hostIndex(number int) int { return 10 + number }

func inodeOf(number int) uint64 { return 4026532000 + uint64(number) }

func deviceName(namespace, pod string) string {
	sum := sha1.Sum([]byte(namespace + "." + pod)) //nolint:gosec // see above
	return "cali" + hex.EncodeToString(sum[:])[:11]
}

func single(ip netip.Addr) netip.Prefix { return netip.PrefixFrom(ip, ip.BitLen()) }

// factsOf is the state of a node without pods.
func factsOf(name string, tunnel netip.Addr) *model.NodeState {
	f := &model.NodeState{
		Machines: []model.Machine{{
			BootID: "boot-" + name, Uptime: 900_000, NodeName: name, CalicoName: name, NetNS: hostNS, Felix: "ready", Plugin: "v3.31.0", Revision: 1000,
			Settings: map[string]string{"FELIX_BPFENABLED": "false"}, Since: old,
		}},
		CNIConfigs: []model.CNIConfig{
			{File: "10-calico.conflist", Network: network, Loaded: true, Plugins: []string{"calico", "bandwidth", "portmap"}, NodeName: name, IPAM: "calico-ipam", Since: old},
			{File: "87-podman-bridge.conflist", Network: "podman", Plugins: []string{"bridge"}, IPAM: "host-local", Since: old},
		},
		Links: []model.Link{
			{Index: 1, Name: "lo", Up: true, MTU: 65536, Since: old},
			{Index: card, Name: "eth0", MAC: "52:54:00:00:00:01", Up: true, Since: old},
			{Index: overlay, Name: "vxlan.calico", Kind: "vxlan", Up: true, IPs: []netip.Prefix{single(tunnel)}, Since: old},
		},
		Routes: []model.Route{
			{Dst: all4, Gateway: router, Link: card, Table: 254, Since: old},
			{Dst: netip.MustParsePrefix("192.168.0.0/24"), Link: card, Table: 254, Scope: "link", Since: old},
			{Dst: netip.PrefixFrom(tunnel, 28).Masked(), Table: 254, Protocol: 80, Type: "blackhole", Since: old},
			{Dst: single(tunnel), Link: overlay, Table: 255, Type: "local", Scope: "host", Since: old},
		},
		Paths: []model.Path{{IP: tunnel, Link: 1, Table: 255, Type: "local", Since: old}},
		Sysctls: []model.Sysctl{
			{Device: "all", Key: "proxy_arp", Value: "0", Since: old},
			{Device: "all", Key: "forwarding", IPv6: true, Value: "1", Since: old},
		},
		Proxies:   []model.Proxy{{State: "ready", Process: true, Since: old}},
		Guards:    []model.Guard{{Wanted: "enforce", Mode: "enforce", Version: "v3.31.0", Since: old}},
		Processes: []model.Process{{PID: 100, Name: "calico-node", Why: "felix", State: "S", Since: old}},
	}
	for _, call := range []string{"Version", "Status", "ListPodSandbox", "ListContainers"} {
		f.Runtimes = append(f.Runtimes, model.Runtime{Call: call, Name: "containerd 2.2", Millis: 3, Since: old})
	}
	for _, family := range []string{"ip", "ip6"} {
		f.Firewall = append(f.Firewall, model.Chain{Family: family, Table: "kube-proxy", Name: "nat-prerouting", Hook: "prerouting", Policy: "accept", Rules: []model.ChainRule{{Does: "jump services"}}, Since: old})
	}
	return f
}

// seat adds the node state of a running pod.
func seat(f *model.NodeState, p *model.Pod, number int, etcd bool) {
	name, id, index, inode := deviceName(p.Namespace, p.Name), containerOf(p.Name), hostIndex(number), inodeOf(number)
	in := model.Attachment{
		Sandbox: id, NetNS: "/run/netns/cni-" + p.Name, Inode: inode, PIDs: 2, Pinned: true, Device: "eth0", Index: insideAt, Peer: index, PeerNS: hostNS,
		MAC: fmt.Sprintf("0a:00:00:00:%02x:%02x", number>>8, number&255), Up: true, Since: old,
		Neighbours: []model.Neighbour{{IP: gateway, MAC: hostMAC, Link: insideAt, State: "REACHABLE"}},
	}
	result := model.CNIResult{Network: network, Container: id, Interface: "eth0", Since: old}
	for _, ip := range p.IPs {
		in.IPs = append(in.IPs, single(ip))
		result.IPs = append(result.IPs, single(ip))
		if ip.Is4() {
			in.Routes = append(in.Routes, model.Route{Dst: all4, Gateway: gateway, Link: insideAt, Table: 254}, model.Route{Dst: single(gateway), Link: insideAt, Table: 254, Scope: "link"})
		} else {
			in.Routes = append(in.Routes, model.Route{Dst: all6, Gateway: linkIP6, Link: insideAt, Table: 254})
		}
		if etcd { // Felix writes them itself
			f.Neighbours = append(f.Neighbours, model.Neighbour{IP: ip, MAC: in.MAC, Link: index, State: "PERMANENT", Since: old})
		}
		f.Routes = append(f.Routes, model.Route{Dst: single(ip), Link: index, Table: 254, Protocol: 3, Scope: "link", Since: old})
		f.Paths = append(f.Paths, model.Path{IP: ip, Link: index, Table: 254, Since: old})
	}
	f.Attachments = append(f.Attachments, in)
	f.CNIResults = append(f.CNIResults, result)
	f.Links = append(f.Links, model.Link{Index: index, Name: name, Kind: "veth", MAC: hostMAC, Up: true, Peer: insideAt, PeerNS: inode, Since: old})
	for _, key := range []string{"proxy_arp", "forwarding"} {
		f.Sysctls = append(f.Sysctls, model.Sysctl{Device: name, Key: key, Value: "1", Since: old})
	}
	f.Sysctls = append(f.Sysctls, model.Sysctl{Device: name, Key: "proxy_ndp", IPv6: true, Value: "1", Since: old})
	f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: id, Namespace: p.Namespace, Pod: p.Name, UID: p.UID, Ready: true, NetNS: in.NetNS, Inode: inode, PID: 1000 + number, Created: old, Since: old})
	f.Containers = append(f.Containers, model.Container{ID: containerOf("main of " + p.Name), Sandbox: id, Name: "main", State: "running", PID: 2000 + number, Since: old})
}
