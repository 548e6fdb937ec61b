package server

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// gateway is the next hop of every pod with Calico.
var gateway = netip.AddrFrom4([4]byte{169, 254, 1, 1})

// narrow reduces a node's state to what concerns a pod or an address, and what holds for
// the whole node. Zero arguments are not asked about.
func narrow(f *model.NodeState, ns, pod string, ip netip.Addr) {
	boxes, inodes, uids := map[string]bool{}, map[uint64]bool{}, map[string]bool{}
	ips := map[netip.Addr]bool{}
	if ip.IsValid() {
		ips[ip] = true
	}
	for _, a := range f.Attachments {
		if ip.IsValid() && a.Has(ip) {
			inodes[a.Inode] = true
		}
	}
	for _, s := range f.Sandboxes {
		if pod != "" && s.Namespace == ns && s.Pod == pod || s.Inode != 0 && inodes[s.Inode] {
			boxes[s.ID], uids[s.UID] = true, true
			if s.Inode != 0 {
				inodes[s.Inode] = true
			}
		}
	}
	peers := map[int]bool{}
	for _, a := range f.Attachments {
		if !inodes[a.Inode] {
			continue
		}
		peers[a.Peer] = true
		for _, p := range a.IPs {
			ips[p.Addr()] = true
		}
	}
	for _, r := range f.CNIResults {
		if boxes[r.Container] {
			for _, p := range r.IPs {
				ips[p.Addr()] = true
			}
		}
	}
	concerned := map[int]bool{} // interface indexes
	keep(&f.Routes, func(r *model.Route) bool {
		yes := r.Dst.IsSingleIP() && ips[r.Dst.Addr()] || r.Dst.Bits() == 0 || r.Dst.Contains(gateway)
		if yes {
			concerned[r.Link] = true
		}
		return yes
	})
	keep(&f.Neighbours, func(n *model.Neighbour) bool {
		if ips[n.IP] {
			concerned[n.Link] = true
		}
		return ips[n.IP]
	})
	keep(&f.Paths, func(p *model.Path) bool {
		if ips[p.IP] {
			concerned[p.Link] = true
		}
		return ips[p.IP] || p.IP == gateway
	})
	names := map[string]bool{}
	keep(&f.Links, func(l *model.Link) bool {
		yes := peers[l.Index] || concerned[l.Index] || l.PeerNS != 0 && inodes[l.PeerNS]
		names[l.Name] = names[l.Name] || yes
		return yes
	})
	keep(&f.Sysctls, func(s *model.Sysctl) bool { return names[s.Device] || s.Device == "all" })
	keep(&f.Attachments, func(a *model.Attachment) bool { return inodes[a.Inode] })
	keep(&f.Sandboxes, func(s *model.Sandbox) bool { return boxes[s.ID] })
	containers := map[string]bool{}
	keep(&f.Containers, func(c *model.Container) bool {
		containers[c.ID] = containers[c.ID] || boxes[c.Sandbox]
		return boxes[c.Sandbox]
	})
	keep(&f.CNIResults, func(r *model.CNIResult) bool { return boxes[r.Container] })
	keep(&f.Processes, func(p *model.Process) bool {
		return containers[p.Container] || boxes[p.Container] || uids[p.PodUID] && p.PodUID != "" || p.Why == "cni"
	})
	keep(&f.Mounts, func(m *model.Mount) bool {
		return m.Silent || slices.ContainsFunc(m.Pods, func(u string) bool { return uids[u] })
	})
}

func keep[T any](rows *[]T, yes func(*T) bool) {
	*rows = slices.DeleteFunc(*rows, func(r T) bool { return !yes(&r) })
}
