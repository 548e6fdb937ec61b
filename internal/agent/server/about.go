package server

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// gateway is the next hop of every pod with Calico.
var gateway = netip.AddrFrom4([4]byte{169, 254, 1, 1})

// reduction reads what an answer is reduced to: a pod, an address or what is looked for. It is
// nil for whole tables. Without tables, all are needed to find what concerns it.
func reduction(q url.Values, node string) (reduce func(*model.NodeState), tables []model.Table, err error) {
	pod, ip := q.Get("pod"), q.Get("ip")
	switch {
	case q.Has("of"):
		sought, err := model.Seek(q.Get("of"), q.Get("name"))
		if err != nil {
			return nil, nil, fmt.Errorf("of, name: %w", err)
		}
		return func(f *model.NodeState) { sought.Narrow(f, node) }, sought.Tables(), nil
	case pod == "" && ip == "":
		return nil, nil, nil
	}
	var a netip.Addr
	if ip != "" {
		if a, err = netip.ParseAddr(ip); err != nil {
			return nil, nil, errors.New("ip: not an address")
		}
	}
	ns, name, _ := strings.Cut(pod, "/")
	return func(f *model.NodeState) { narrow(f, ns, name, a.Unmap()) }, nil, nil
}

// narrow reduces a node's state to what concerns a pod or an address, and what holds for
// the whole node. Zero arguments are not asked about.
func narrow(f *model.NodeState, ns, pod string, ip netip.Addr) {
	c := newConcern(f, ns, pod, ip)
	links := c.keepRouting(f)
	c.keepLinks(f, links)
	c.keepPods(f)
}

// A concern is what belongs to a pod or an address on the node.
type concern struct {
	sandboxes map[string]bool     // IDs
	inodes    map[uint64]bool     // of network namespaces
	uids      map[string]bool     // of pods
	ips       map[netip.Addr]bool // asked about, or of the sandboxes
	peers     map[int]bool        // indexes of host interfaces whose peer is in such a namespace
}

func newConcern(f *model.NodeState, ns, pod string, ip netip.Addr) *concern {
	c := &concern{sandboxes: map[string]bool{}, inodes: map[uint64]bool{}, uids: map[string]bool{}, ips: map[netip.Addr]bool{}, peers: map[int]bool{}}
	if ip.IsValid() {
		c.ips[ip] = true
		for _, a := range f.Attachments {
			if a.Has(ip) {
				c.inodes[a.Inode] = true
			}
		}
	}
	for i := range f.Sandboxes {
		s := &f.Sandboxes[i]
		if pod != "" && s.Namespace == ns && s.Pod == pod || s.Inode != 0 && c.inodes[s.Inode] {
			c.addSandbox(s)
		}
	}
	c.addAddresses(f)
	return c
}

func (c *concern) addSandbox(s *model.Sandbox) {
	c.sandboxes[s.ID], c.uids[s.UID] = true, true
	if s.Inode != 0 {
		c.inodes[s.Inode] = true
	}
}

// addAddresses adds the addresses that the sandboxes have, and those that they were given.
func (c *concern) addAddresses(f *model.NodeState) {
	add := func(ips []netip.Prefix) {
		for _, p := range ips {
			c.ips[p.Addr()] = true
		}
	}
	for _, a := range f.Attachments {
		if c.inodes[a.Inode] {
			c.peers[a.Peer] = true
			add(a.IPs)
		}
	}
	for _, r := range f.CNIResults {
		if c.sandboxes[r.Container] {
			add(r.IPs)
		}
	}
}

// keepRouting keeps how packets to the addresses are sent, and returns the indexes of the
// interfaces that they use.
func (c *concern) keepRouting(f *model.NodeState) map[int]bool {
	links, tunnels := map[int]bool{}, map[int]bool{}
	for i := range f.Links {
		tunnels[f.Links[i].Index] = f.Links[i].Kind == "vxlan" || f.Links[i].Kind == "ipip" || f.Links[i].Kind == "wireguard"
	}
	keep(&f.Routes, func(r *model.Route) bool {
		between := r.Gateway.IsValid() || tunnels[r.Link] || r.Type != "" && r.Type != "local" // ways to other nodes, and what is in front of them
		yes := between || r.Dst.IsSingleIP() && c.ips[r.Dst.Addr()] || r.Dst.Bits() == 0 || r.Dst.Contains(gateway)
		if yes {
			links[r.Link] = true
		}
		return yes
	})
	keep(&f.Neighbours, func(n *model.Neighbour) bool {
		if c.ips[n.IP] {
			links[n.Link] = true
		}
		return c.ips[n.IP] || n.FDB != ""
	})
	keep(&f.Paths, func(p *model.Path) bool {
		if c.ips[p.IP] {
			links[p.Link] = true
		}
		return c.ips[p.IP] || p.IP == gateway
	})
	return links
}

func (c *concern) keepLinks(f *model.NodeState, used map[int]bool) {
	names := map[string]bool{}
	keep(&f.Links, func(l *model.Link) bool {
		yes := c.peers[l.Index] || used[l.Index] || len(l.IPs) > 0 || l.PeerNS != 0 && c.inodes[l.PeerNS] // with addresses: the node's own
		names[l.Name] = names[l.Name] || yes
		return yes
	})
	keep(&f.Sysctls, func(s *model.Sysctl) bool { return names[s.Device] || s.Device == "all" })
}

// keepPods keeps what the runtime and CNI have of the sandboxes, and what uses them.
func (c *concern) keepPods(f *model.NodeState) {
	keep(&f.Attachments, func(a *model.Attachment) bool { return c.inodes[a.Inode] })
	keep(&f.Sandboxes, func(s *model.Sandbox) bool { return c.sandboxes[s.ID] })
	containers := map[string]bool{}
	keep(&f.Containers, func(k *model.Container) bool {
		containers[k.ID] = containers[k.ID] || c.sandboxes[k.Sandbox]
		return c.sandboxes[k.Sandbox]
	})
	keep(&f.CNIResults, func(r *model.CNIResult) bool { return c.sandboxes[r.Container] })
	keep(&f.FailedDels, func(d *model.FailedDel) bool { return c.sandboxes[d.Sandbox] })
	keep(&f.Processes, func(p *model.Process) bool {
		return containers[p.Container] || c.sandboxes[p.Container] || c.uids[p.PodUID] && p.PodUID != "" || p.Why == "cni"
	})
	keep(&f.Mounts, func(m *model.Mount) bool {
		return m.Silent || slices.ContainsFunc(m.Pods, func(u string) bool { return c.uids[u] })
	})
}

func keep[T any](rows *[]T, yes func(*T) bool) {
	*rows = slices.DeleteFunc(*rows, func(r T) bool { return !yes(&r) })
}
