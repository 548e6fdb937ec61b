package planner_test

import (
	"crypto/sha1" //nolint:gosec // Calico names devices so
	"encoding/hex"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// answer adds the node state that fits the pods to every node: a snapshot with agents from
// one without. Node state that the fixture already has is kept.
func answer(s *model.Snapshot, g given) {
	for i := range s.Handles {
		if s.Handles[i].Revision == "" {
			s.Handles[i].Revision = "7"
		}
	}
	if s.NodeState == nil {
		s.NodeState = map[string]*model.NodeState{}
	}
	for i := range s.Nodes {
		node := s.Nodes[i].Name
		if g.NoAgents {
			continue
		}
		silent := slices.Contains(g.Silent, node)
		if s.NodeState[node] != nil && !silent {
			continue
		}
		for _, t := range model.FactTables() {
			state := model.Complete
			if silent {
				state = model.Lost
			}
			s.Coverage = append(s.Coverage, model.Coverage{Table: t, Node: node, State: state})
		}
		s.NodeState[node] = &model.NodeState{}
		if !silent {
			s.NodeState[node] = factsOf(s, node)
			s.NodeState[node].Machines[0].Plugin = g.Plugin
			if as := g.Rename[node]; as != "" {
				s.NodeState[node].Machines[0].CalicoName = as
			}
		}
	}
}

func factsOf(s *model.Snapshot, node string) *model.NodeState {
	const hostNS = 4026531840
	f := &model.NodeState{
		Machines:   []model.Machine{{BootID: "b", Uptime: 86400, NodeName: node, CalicoName: node, NetNS: hostNS, Felix: "ready"}},
		CNIConfigs: []model.CNIConfig{{File: "10-calico.conflist", Network: "k8s-pod-network", Loaded: true, Plugins: []string{"calico"}, NodeName: node, IPAM: "calico-ipam"}},
		Runtimes:   []model.Runtime{{Call: "Version", Name: "containerd"}},
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Node != node || p.HostNetwork || p.Phase != model.Running || p.ContainerID == "" {
			continue
		}
		at, index := uint64(hostNS+1+i), 100+i
		sum := sha1.Sum([]byte(p.Namespace + "." + p.Name)) //nolint:gosec // Calico names devices so
		var ips []netip.Prefix
		for _, ip := range p.Claims() {
			ips = append(ips, netip.PrefixFrom(ip, ip.BitLen()))
			f.Paths = append(f.Paths, model.Path{IP: ip, Link: index, Table: 254})
		}
		f.Links = append(f.Links, model.Link{Index: index, Name: "cali" + hex.EncodeToString(sum[:])[:11], Kind: "veth", Up: true, Peer: 3, PeerNS: at})
		f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: p.ContainerID, Namespace: p.Namespace, Pod: p.Name, UID: p.UID, Ready: true, Inode: at})
		f.Attachments = append(f.Attachments, model.Attachment{Sandbox: p.ContainerID, Inode: at, PIDs: 2, Device: "eth0", Index: 3, Peer: index, PeerNS: hostNS, Up: true, IPs: ips})
		f.CNIResults = append(f.CNIResults, model.CNIResult{Network: "k8s-pod-network", Container: p.ContainerID, Interface: "eth0", IPs: ips})
	}
	return f
}
