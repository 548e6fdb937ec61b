//go:build e2e

package agentcost

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/lab/stage"
)

// A change is made on the node; then an answer must show it.
type change struct {
	name  string
	table model.Table
	call  func() error // by the library
	argv  []string     // by a command; in the pod if it begins with a +
	seen  func(*model.NodeState) bool
}

func (s *lookup) command(ctx context.Context, argv []string) error {
	if argv[0] == "+" {
		_, err := stage.InPod(ctx, s.node, s.web, argv[1:]...)
		return err
	}
	_, err := s.node.Exec(ctx, argv...)
	return err
}

func words(s string) []string { return strings.Fields(s) }

func ipNet(addr string) *net.IPNet {
	return &net.IPNet{IP: net.ParseIP(addr), Mask: net.CIDRMask(32, 32)}
}

// handles are sockets in the host's network namespace and in the pod's.
func (s *lookup) handles(t *testing.T) (host, pod *netlink.Handle) {
	t.Helper()
	host, err := handleAt(s.node.Path("/proc/1/ns/net"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Close)
	if pod, err = handleAt(s.node.Path("/proc/" + s.web.PID + "/ns/net")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pod.Close)
	return host, pod
}

func index(t *testing.T, h *netlink.Handle, name string) int {
	t.Helper()
	l, err := h.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs().Index
}

// kinds returns the changes, each reverted by one that follows.
func (s *lookup) kinds(t *testing.T) []change {
	t.Helper()
	host, pod := s.handles(t)
	dev := stage.Device("default", "web")
	cable, eth0 := index(t, host, dev), index(t, pod, "eth0")
	veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "calitest"}, PeerName: "calipeer"}
	neigh := &netlink.Neigh{LinkIndex: cable, Family: netlink.FAMILY_V4, State: netlink.NUD_PERMANENT, IP: net.ParseIP("10.244.99.99"), HardwareAddr: net.HardwareAddr{0xce, 0, 0x8d, 0x99, 0x39, 0xee}}
	route := &netlink.Route{LinkIndex: cable, Dst: ipNet("10.244.99.98"), Scope: netlink.SCOPE_LINK}
	hole := &netlink.Route{Dst: ipNet("10.244.99.98"), Type: unix.RTN_BLACKHOLE}
	addr := &netlink.Addr{IPNet: ipNet("10.244.99.97")}
	own, err := pod.LinkByIndex(eth0)
	if err != nil {
		t.Fatal(err)
	}
	link := func(f *model.NodeState) bool {
		return slices.ContainsFunc(f.Links, func(l model.Link) bool { return l.Name == "calitest" })
	}
	kind := func(f *model.NodeState) string { return routeTo(f, "10.244.99.98") }
	near := func(f *model.NodeState) bool { return neighbour(f, "10.244.99.99") }
	arp := func(value string) func(*model.NodeState) bool {
		return func(f *model.NodeState) bool {
			return slices.ContainsFunc(f.Sysctls, func(s model.Sysctl) bool { return s.Device == dev && s.Key == "proxy_arp" && s.Value == value })
		}
	}
	has := func(f *model.NodeState) bool { return attached(f, "10.244.99.97") }
	not := func(f func(*model.NodeState) bool) func(*model.NodeState) bool {
		return func(facts *model.NodeState) bool { return !f(facts) }
	}
	sysctl := func(value string) func() error {
		return func() error { return s.inHost("/proc/sys/net/ipv4/conf/"+dev+"/proxy_arp", value) }
	}
	return []change{
		{"interface added", model.Links, func() error { return host.LinkAdd(veth) }, words("ip link add calitest type veth peer name calipeer"), link},
		{"interface deleted", model.Links, func() error { return host.LinkDel(veth) }, words("ip link del calitest"), not(link)},
		{"route added", model.Routes, func() error { return host.RouteAdd(route) }, words("ip route add 10.244.99.98 dev " + dev), func(f *model.NodeState) bool {
			return kind(f) == "unicast" || kind(f) == "" && hasRoute(f, "10.244.99.98")
		}},
		{"route changed", model.Routes, func() error { return host.RouteReplace(hole) }, words("ip route replace blackhole 10.244.99.98"), func(f *model.NodeState) bool { return kind(f) == "blackhole" }},
		{"route deleted", model.Routes, func() error { return host.RouteDel(hole) }, words("ip route del blackhole 10.244.99.98"), func(f *model.NodeState) bool { return !hasRoute(f, "10.244.99.98") }},
		{"neighbour added", model.Neighbours, func() error { return host.NeighSet(neigh) }, words("ip neigh add 10.244.99.99 lladdr ce:00:8d:99:39:ee nud permanent dev " + dev), near},
		{"neighbour deleted", model.Neighbours, func() error { return host.NeighDel(neigh) }, words("ip neigh del 10.244.99.99 dev " + dev), not(near)},
		{"proxy_arp off", model.Sysctls, sysctl("0"), words("sysctl -qw net.ipv4.conf." + dev + ".proxy_arp=0"), arp("0")},
		{"proxy_arp on", model.Sysctls, sysctl("1"), words("sysctl -qw net.ipv4.conf." + dev + ".proxy_arp=1"), arp("1")},
		{"pod: address added", model.Attachments, func() error { return pod.AddrAdd(own, addr) }, words("+ ip addr add 10.244.99.97/32 dev eth0"), has},
		{"pod: address removed", model.Attachments, func() error { return pod.AddrDel(own, addr) }, words("+ ip addr del 10.244.99.97/32 dev eth0"), not(has)},
	}
}

func hasRoute(f *model.NodeState, ip string) bool {
	return slices.ContainsFunc(f.Routes, func(r model.Route) bool { return r.Dst == netip.MustParsePrefix(ip+"/32") })
}

// routeTo is the type of the route to an address.
func routeTo(f *model.NodeState, ip string) string {
	for _, r := range f.Routes {
		if r.Dst == netip.MustParsePrefix(ip+"/32") {
			return r.Type
		}
	}
	return ""
}

func neighbour(f *model.NodeState, ip string) bool {
	return slices.ContainsFunc(f.Neighbours, func(n model.Neighbour) bool { return n.IP.String() == ip })
}

func attached(f *model.NodeState, ip string) bool {
	return slices.ContainsFunc(f.Attachments, func(a model.Attachment) bool {
		return slices.ContainsFunc(a.IPs, func(p netip.Prefix) bool { return p.Addr().String() == ip })
	})
}

// inHost writes a file of /proc/sys/net, which applies to the writer's network
// namespace.
func (s *lookup) inHost(path, value string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	back, err := netns.Get()
	if err != nil {
		return err
	}
	defer func() { _ = back.Close() }()
	there, err := netns.GetFromPath(s.node.Path("/proc/1/ns/net"))
	if err != nil {
		return err
	}
	defer func() { _ = there.Close() }()
	if err := netns.Set(there); err != nil {
		return err
	}
	err = os.WriteFile(s.node.Path(path), []byte(value), 0)
	if e := netns.Set(back); e != nil {
		panic(fmt.Sprintf("a thread remains in another namespace: %v", e))
	}
	return err
}
