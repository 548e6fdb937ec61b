//go:build linux

package kernel_test

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

func TestRootTablesOfANode(t *testing.T) {
	if !alone(t) {
		return
	}
	host := inodeOf(t, "/proc/1/ns/net")
	pinned := wire(t, pin(t, "cni-1"), "cali1", "10.0.0.1/32")
	pid := live(t, "A=1", "/bin/sleep", "1000")
	lived := wire(t, fmt.Sprintf("/proc/%d/ns/net", pid), "cali2.x", "10.0.0.2/32")
	empty := pin(t, "empty")
	// What is beside the pins and is none must neither hang nor count.
	must(t, os.WriteFile("/run/netns/stale", nil, 0o600))
	must(t, unix.Mkfifo("/run/netns/fifo", 0o600))
	must(t, os.Symlink("/proc/1/ns/net", "/run/netns/link"))

	// A card, with its cable's other end beside it.
	must(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "eth0"}, PeerName: "far0"}))
	eth0, err := netlink.LinkByName("eth0")
	must(t, err)
	must(t, netlink.LinkSetUp(eth0))
	far0, err := netlink.LinkByName("far0")
	must(t, err)
	must(t, netlink.LinkSetUp(far0))
	must(t, netlink.AddrAdd(eth0, &netlink.Addr{IPNet: cidr(t, "192.0.2.1/24")}))
	must(t, netlink.AddrAdd(eth0, &netlink.Addr{IPNet: cidr(t, "fd00:9::1/64"), Flags: unix.IFA_F_NODAD}))
	for dst, kind := range map[string]int{
		"10.0.1.0/26": unix.RTN_BLACKHOLE, "10.0.2.0/24": unix.RTN_UNREACHABLE, "10.0.3.0/24": unix.RTN_PROHIBIT, "fd00:1::/64": unix.RTN_BLACKHOLE,
	} {
		must(t, netlink.RouteAdd(&netlink.Route{Dst: cidr(t, dst), Type: kind}))
	}
	must(t, netlink.RouteAdd(&netlink.Route{Dst: cidr(t, "10.0.4.0/24"), Table: 77, Protocol: 80, Priority: 5, MultiPath: []*netlink.NexthopInfo{
		{LinkIndex: eth0.Attrs().Index, Gw: net.ParseIP("192.0.2.8")}, {LinkIndex: eth0.Attrs().Index, Gw: net.ParseIP("192.0.2.9")},
	}}))
	// The address that a pod has, but the host sends nowhere.
	h := inside(t, pinned.door)
	in, err := h.LinkByName("eth0")
	must(t, err)
	must(t, h.AddrAdd(in, &netlink.Addr{IPNet: cidr(t, "10.0.1.7/32")}))
	must(t, h.AddrAdd(in, &netlink.Addr{IPNet: cidr(t, "fd00:1::7/128"), Flags: unix.IFA_F_NODAD}))
	must(t, h.RouteAdd(&netlink.Route{Dst: cidr(t, "10.9.0.0/16"), Type: unix.RTN_BLACKHOLE}))
	must(t, h.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "own1"}, PeerName: "own2"}))
	h.Close()
	must(t, netlink.NeighSet(&netlink.Neigh{LinkIndex: pinned.index, IP: net.ParseIP("10.0.0.1"), HardwareAddr: hardware(t, "02:00:00:00:00:01"), State: netlink.NUD_PERMANENT}))
	must(t, netlink.NeighAdd(&netlink.Neigh{LinkIndex: lived.index, IP: net.ParseIP("fd00::5"), Flags: netlink.NTF_PROXY}))
	rule := netlink.NewRule()
	rule.Priority, rule.Table, rule.Mark, rule.Src, rule.IifName = 100, 77, 0x10, cidr(t, "10.0.0.0/8"), "cali1"
	must(t, netlink.RuleAdd(rule))

	f := look(t)
	links(t, f, host, pinned, lived)
	attachments(t, f, host, pinned, lived, empty)
	routes(t, f, pinned, eth0.Attrs().Index)
	paths(t, f, pinned, lived)
	near := only(t, f.Neighbours, "permanent", func(n *model.Neighbour) bool { return n.State == "PERMANENT" })
	if near.IP != netip.MustParseAddr("10.0.0.1") || near.MAC != "02:00:00:00:00:01" || near.Link != pinned.index || near.Proxy {
		t.Errorf("neighbour %+v", near)
	}
	proxy := only(t, f.Neighbours, "proxy", func(n *model.Neighbour) bool { return n.Proxy })
	if proxy.IP != netip.MustParseAddr("fd00::5") || proxy.Link != lived.index {
		t.Errorf("proxy %+v", proxy)
	}
	r := only(t, f.Rules, "rule", func(r *model.Rule) bool { return r.Priority == 100 })
	if r.Table != 77 || r.Mark != 0x10 || r.Src != netip.MustParsePrefix("10.0.0.0/8") || r.In != "cali1" || r.IPv6 {
		t.Errorf("rule %+v", r)
	}
	only(t, f.Rules, "IPv6 main rule", func(r *model.Rule) bool { return r.IPv6 && r.Table == 254 })
	for device, want := range map[string]string{"cali1": "1", "cali2.x": "1"} {
		if s := only(t, f.Sysctls, "proxy_arp", func(s *model.Sysctl) bool { return s.Device == device && s.Key == "proxy_arp" }); s.Value != want || s.IPv6 {
			t.Errorf("%+v", s)
		}
	}
	only(t, f.Sysctls, "IPv6 forwarding", func(s *model.Sysctl) bool { return s.Device == "cali1" && s.Key == "forwarding" && s.IPv6 })
	only(t, f.Sysctls, "forwarding of the host's own", func(s *model.Sysctl) bool { return s.Device == "eth0" && s.Key == "forwarding" && !s.IPv6 })
	if n := everywhere(f.Sysctls); n != 30 {
		t.Errorf("%d settings, want 6 of each of two devices of pods and two of the host, and of all: %+v", n, f.Sysctls)
	}
}

// everywhere counts the settings that every kernel has: force_forwarding came with Linux 6.17.
func everywhere(all []model.Sysctl) (n int) {
	for _, s := range all {
		if s.Key != "force_forwarding" {
			n++
		}
	}
	return n
}

func links(t *testing.T, f *model.NodeState, host uint64, pods ...pod) {
	t.Helper()
	for _, p := range pods {
		l := only(t, f.Links, p.device, func(l *model.Link) bool { return l.Name == p.device })
		if l.Kind != "veth" || l.Index != p.index || l.PeerNS != inodeOf(t, p.door) || l.PeerNS == host || l.Peer == 0 || !l.Up || l.MAC != "ee:ee:ee:ee:ee:ee" {
			t.Errorf("%+v", l)
		}
	}
	l := only(t, f.Links, "eth0", func(l *model.Link) bool { return l.Name == "eth0" })
	if l.Peer == 0 || l.PeerNS != host || l.Kind != "veth" || len(l.IPs) < 2 || l.IPs[0] != netip.MustParsePrefix("192.0.2.1/24") {
		t.Errorf("%+v", l)
	}
}

func attachments(t *testing.T, f *model.NodeState, host uint64, pinned, lived pod, empty string) {
	t.Helper()
	if len(f.Attachments) != 5 {
		t.Errorf("%d attachments, want 3 of cni-1, one of the process, one of the empty: %+v", len(f.Attachments), f.Attachments)
	}
	a := only(t, f.Attachments, "pinned", func(a *model.Attachment) bool { return a.NetNS == pinned.door && a.Device == "eth0" })
	if a.Inode != inodeOf(t, pinned.door) || !a.Pinned || a.PIDs != 0 || a.Peer != pinned.index || a.PeerNS != host || !a.Up || a.MAC == "" {
		t.Errorf("%+v", a)
	}
	if got := fmt.Sprint(a.IPs); got != "[10.0.0.1/32 10.0.1.7/32 fd00:1::7/128]" {
		t.Errorf("addresses %s", got)
	}
	if n := only(t, a.Neighbours, "gateway", func(n *model.Neighbour) bool { return n.IP.String() == gateway }); n.State != "PERMANENT" || n.MAC != "ee:ee:ee:ee:ee:ee" {
		t.Errorf("gateway %+v", n)
	}
	if r := only(t, a.Routes, "default", func(r *model.Route) bool { return r.Dst.String() == "0.0.0.0/0" }); r.Gateway.String() != gateway || r.Link != a.Index || r.Scope != "" {
		t.Errorf("%+v", r)
	}
	if r := only(t, a.Routes, "on link", func(r *model.Route) bool { return r.Dst.String() == gateway+"/32" }); r.Scope != "link" || r.Link != a.Index || r.Table != 254 {
		t.Errorf("%+v", r)
	}
	if own := only(t, f.Attachments, "own", func(a *model.Attachment) bool { return a.Device == "own1" }); own.PeerNS != own.Inode || own.Peer == 0 {
		t.Errorf("both ends inside: %+v", own)
	}
	b := only(t, f.Attachments, "lived", func(a *model.Attachment) bool { return a.NetNS == lived.door })
	if b.Inode != inodeOf(t, lived.door) || b.Pinned || b.PIDs != 1 || b.PeerNS != host || b.Peer != lived.index {
		t.Errorf("%+v", b)
	}
	e := only(t, f.Attachments, "empty", func(a *model.Attachment) bool { return a.NetNS == empty })
	if e.Device != "" || e.Index != 0 || !e.Pinned {
		t.Errorf("%+v", e)
	}
}

func routes(t *testing.T, f *model.NodeState, p pod, eth0 int) {
	t.Helper()
	to := func(dst string) model.Route {
		t.Helper()
		return only(t, f.Routes, dst, func(r *model.Route) bool { return r.Dst.String() == dst && r.Type != "local" })
	}
	if r := to(p.ip + "/32"); r.Link != p.index || r.Scope != "link" || r.Type != "" || r.Table != 254 {
		t.Errorf("%+v", r)
	}
	for dst, want := range map[string]string{"10.0.1.0/26": "blackhole", "10.0.2.0/24": "unreachable", "10.0.3.0/24": "prohibit", "fd00:1::/64": "blackhole"} {
		if r := to(dst); r.Type != want || r.Link != 0 {
			t.Errorf("%+v", r)
		}
	}
	only(t, f.Routes, "local", func(r *model.Route) bool {
		return r.Dst.String() == "192.0.2.1/32" && r.Type == "local" && r.Table == 255
	})
	var hops []string
	for _, r := range f.Routes {
		if r.Table == 77 && r.Link == eth0 && r.Protocol == 80 && r.Metric == 5 {
			hops = append(hops, r.Gateway.String())
		}
		if d := r.Dst.String(); strings.HasPrefix(d, "ff") || strings.HasPrefix(d, "fe80") || strings.HasPrefix(d, "127.") || d == "192.0.2.255/32" {
			t.Errorf("noise: %+v", r)
		}
	}
	if strings.Join(hops, " ") != "192.0.2.8 192.0.2.9" {
		t.Errorf("next hops %q", hops)
	}
}

func paths(t *testing.T, f *model.NodeState, pods ...pod) {
	t.Helper()
	to := func(ip string) model.Path {
		t.Helper()
		return only(t, f.Paths, ip, func(p *model.Path) bool { return p.IP.String() == ip })
	}
	for _, p := range pods {
		if got := to(p.ip); got.Link != p.index || got.Error != "" || got.Table != 254 || got.Type != "" {
			t.Errorf("%+v", got)
		}
	}
	if p := to("10.0.1.7"); p.Error != "invalid argument" || p.Link != 0 {
		t.Errorf("blackhole: %+v", p)
	}
	if p := to("fd00:1::7"); p.Error != "invalid argument" || p.Link != 0 {
		t.Errorf("IPv6 blackhole: %+v", p)
	}
	if p := to(gateway); p.Error != "network is unreachable" {
		t.Errorf("the host has no default route: %+v", p)
	}
	if len(f.Paths) != 5 {
		t.Errorf("%d paths: %+v", len(f.Paths), f.Paths)
	}
}
