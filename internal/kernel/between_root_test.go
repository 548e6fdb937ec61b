//go:build linux

package kernel_test

import (
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

// What Calico makes between nodes: a VXLAN interface, a neighbour for each node, and where its
// packets are sent.
func TestRootTunnels(t *testing.T) {
	if !alone(t) {
		return
	}
	must(t, netlink.LinkAdd(&netlink.Vxlan{LinkAttrs: netlink.LinkAttrs{Name: "vxlan.calico", MTU: 1450}, VxlanId: 4096, Port: 4789}))
	tunnel, err := netlink.LinkByName("vxlan.calico")
	must(t, err)
	must(t, netlink.LinkSetUp(tunnel))
	at := tunnel.Attrs().Index
	for ip, mac := range map[string]string{"10.0.0.1": "66:00:00:00:00:01", "10.0.0.2": "66:00:00:00:00:02"} {
		must(t, netlink.NeighSet(&netlink.Neigh{LinkIndex: at, IP: net.ParseIP(ip), HardwareAddr: hardware(t, mac), State: netlink.NUD_PERMANENT}))
	}
	must(t, netlink.NeighAppend(&netlink.Neigh{LinkIndex: at, Family: unix.AF_BRIDGE, Flags: netlink.NTF_SELF, State: netlink.NUD_PERMANENT, IP: net.ParseIP("192.0.2.1"), HardwareAddr: hardware(t, "66:00:00:00:00:01")}))
	rule := netlink.NewRule()
	rule.Priority, rule.Dst, rule.Type = 100, cidr(t, "10.0.0.0/26"), unix.FR_ACT_PROHIBIT
	must(t, netlink.RuleAdd(rule))
	other := netlink.NewRule()
	other.Priority, other.Table, other.Mark, other.Invert = 99, 1, 0x100000, true
	must(t, netlink.RuleAdd(other))

	f := look(t)
	for ip, fdb := range map[string]string{"10.0.0.1": "192.0.2.1", "10.0.0.2": model.NoFDB} {
		n := only(t, f.Neighbours, ip, func(n *model.Neighbour) bool { return n.IP == netip.MustParseAddr(ip) })
		if n.FDB != fdb || n.Link != at {
			t.Errorf("%s: %+v, want forwarding to %s", ip, n, fdb)
		}
	}
	if l := only(t, f.Links, "tunnel", func(l *model.Link) bool { return l.Name == "vxlan.calico" }); l.MTU != 1450 || l.Kind != "vxlan" {
		t.Errorf("%+v", l)
	}
	r := only(t, f.Rules, "prohibiting rule", func(r *model.Rule) bool { return r.Priority == 100 })
	if r.Type != "prohibit" || r.Dst != netip.MustParsePrefix("10.0.0.0/26") || r.Other {
		t.Errorf("%+v", r)
	}
	if r := only(t, f.Rules, "inverted rule", func(r *model.Rule) bool { return r.Priority == 99 }); !r.Other {
		t.Errorf("%+v", r)
	}
	for _, r := range f.Rules {
		if r.Priority > 30000 && (r.Other || r.Type != "") {
			t.Errorf("a rule of the kernel's own: %+v", r)
		}
	}
}

// Rules as iptables and nft write them.
func TestRootFirewall(t *testing.T) {
	if !alone(t) {
		return
	}
	run(t, "iptables-nft -w -N cali-FORWARD")
	run(t, "iptables-nft -w -N cali-x")
	run(t, "iptables-nft -w -A cali-FORWARD -j cali-x")
	run(t, "iptables-nft -w -A cali-FORWARD -i cali+ -j DROP")
	run(t, "iptables-nft -w -A FORWARD -m comment --comment cali:x -j cali-FORWARD")
	run(t, "iptables-nft -w -A FORWARD -m mark --mark 0x10000/0x10000 -j ACCEPT")
	run(t, "iptables-nft -w -A FORWARD -i eth0 -j DROP")
	run(t, "iptables-nft -w -A FORWARD -j REJECT")
	run(t, "ip6tables-nft -w -I FORWARD -m comment --comment all -j DROP")
	run(t, "ip6tables-nft -w -P FORWARD DROP")
	run(t, "nft add table inet mine")
	run(t, "nft add chain inet mine way { type filter hook forward priority -5 ; policy drop ; }")
	run(t, "nft add rule inet mine way ct state established accept")
	run(t, "nft add rule inet mine way counter log reject")
	run(t, "nft add chain inet mine inp { type filter hook input priority 0 ; policy drop ; }")
	run(t, "iptables-nft -w -t nat -N KUBE-SERVICES")
	run(t, "iptables-nft -w -t nat -A PREROUTING -m comment --comment x -j KUBE-SERVICES")
	run(t, "iptables-nft -w -t nat -A OUTPUT -j KUBE-SERVICES")
	run(t, "nft add table ip6 kube-proxy")
	run(t, "nft add chain ip6 kube-proxy services")
	run(t, "nft add chain ip6 kube-proxy nat-prerouting { type nat hook prerouting priority -100 ; }")
	run(t, "nft add rule ip6 kube-proxy nat-prerouting jump services")
	run(t, "nft add chain ip6 kube-proxy raw { type filter hook prerouting priority -300 ; }")

	f := look(t)
	want := map[string]string{
		"ip filter FORWARD forward accept":                "jump cali-FORWARD; if accept; if drop; reject",
		"ip filter cali-FORWARD  ":                        "jump cali-x; if drop",
		"ip6 filter FORWARD forward drop":                 "drop",
		"inet mine way forward drop":                      "if accept; reject",
		"ip nat PREROUTING prerouting accept":             "jump KUBE-SERVICES",
		"ip6 kube-proxy nat-prerouting prerouting accept": "jump services",
	}
	got := map[string]string{}
	for _, c := range f.Firewall {
		var rules []string
		for _, r := range c.Rules {
			does := r.Does
			if r.If {
				does = "if " + does
			}
			rules = append(rules, does)
		}
		got[strings.Join([]string{c.Family, c.Table, c.Name, c.Hook, c.Policy}, " ")] = strings.Join(rules, "; ")
		if c.More || c.Legacy {
			t.Errorf("%+v", c)
		}
	}
	for chain, rules := range want {
		if has, there := got[chain]; !there || has != rules {
			t.Errorf("%s: %q, want %q", chain, has, rules)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %q", got)
	}
}

func run(t *testing.T, command string) {
	t.Helper()
	words := strings.Fields(command)
	if out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
}
