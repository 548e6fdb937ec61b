//go:build linux

package rtnl

import (
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

func routeMessage(family, bits, table, kind byte, flags uint32) []byte {
	b := []byte{family, bits, 0, 0, table, 3, unix.RT_SCOPE_LINK, kind}
	return native.AppendUint32(b, flags)
}

func number(n uint32) []byte { return native.AppendUint32(nil, n) }

func TestRouteRows(t *testing.T) {
	t.Parallel()
	ip := func(s string) []byte { return netip.MustParseAddr(s).AsSlice() }
	hop := func(gw string, link uint32) []byte {
		attr := put(nil, unix.RTA_GATEWAY, ip(gw))
		b := native.AppendUint16(nil, uint16(unix.SizeofRtNexthop+len(attr)))
		b = append(b, 0, 0)
		return append(append(b, number(link)...), attr...)
	}
	v4 := routeMessage(unix.AF_INET, 32, 254, unix.RTN_UNICAST, 0)
	for name, c := range map[string]struct {
		b    []byte
		want []string // gateway of each row
		link int
	}{
		"plain":              {put(put(v4, unix.RTA_DST, ip("10.0.0.1")), unix.RTA_OIF, number(7)), []string{"invalid IP"}, 7},
		"several hops":       {put(put(v4, unix.RTA_DST, ip("10.0.0.1")), unix.RTA_MULTIPATH, append(hop("192.0.2.8", 3), hop("192.0.2.9", 3)...)), []string{"192.0.2.8", "192.0.2.9"}, 3},
		"gateway of IPv6":    {put(put(put(v4, unix.RTA_DST, ip("10.0.0.1")), unix.RTA_VIA, append([]byte{10, 0}, ip("fe80::1")...)), unix.RTA_OIF, number(7)), []string{"fe80::1"}, 7},
		"blackhole on lo":    {put(put(routeMessage(unix.AF_INET6, 64, 254, unix.RTN_BLACKHOLE, 0), unix.RTA_DST, ip("fd00::")), unix.RTA_OIF, number(1)), []string{"invalid IP"}, 0},
		"broadcast":          {put(routeMessage(unix.AF_INET, 32, 255, unix.RTN_BROADCAST, 0), unix.RTA_DST, ip("10.0.0.255")), nil, 0},
		"multicast routing":  {put(routeMessage(128, 32, 254, unix.RTN_UNICAST, 0), unix.RTA_DST, ip("10.0.0.1")), nil, 0},
		"address of another": {put(v4, unix.RTA_DST, ip("fd00::1")), nil, 0},
		"learned":            {put(routeMessage(unix.AF_INET, 32, 254, unix.RTN_UNICAST, unix.RTM_F_CLONED), unix.RTA_DST, ip("10.0.0.1")), nil, 0},
		"bits beyond":        {put(routeMessage(unix.AF_INET, 99, 254, unix.RTN_UNICAST, 0), unix.RTA_DST, ip("10.0.0.1")), nil, 0},
	} {
		rows, err := parseRoute(c.b, nil)
		if err != nil || len(rows) != len(c.want) {
			t.Errorf("%s: %+v, %v", name, rows, err)
			continue
		}
		for i, r := range rows {
			if r.Gateway.String() != c.want[i] || r.Link != c.link || r.Table != 254 || r.Scope != "link" || r.Protocol != 3 {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

func TestParentIsNoOtherEnd(t *testing.T) {
	t.Parallel()
	device := func(kind string) Device {
		b := put(make([]byte, unix.SizeofIfInfomsg), unix.IFLA_LINK, number(9))
		b = put(b, unix.IFLA_LINK_NETNSID, number(4))
		d, err := parseLink(put(b, unix.IFLA_LINKINFO, put(nil, unix.IFLA_INFO_KIND, []byte(kind+"\x00"))))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := device("vlan"); d.Peer != 0 || d.Away {
		t.Errorf("%+v", d)
	}
	for _, kind := range []string{"veth", "netkit"} {
		if d := device(kind); d.Peer != 9 || !d.Away || d.AwayID != 4 {
			t.Errorf("%+v", d)
		}
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(reply{kind: unix.RTM_NEWROUTE, body: put(routeMessage(unix.AF_INET, 32, 254, 1, 0), unix.RTA_DST, []byte{10, 0, 0, 1})}.bytes(1))
	f.Add(reply{kind: unix.RTM_NEWLINK, body: put(make([]byte, unix.SizeofIfInfomsg), unix.IFLA_IFNAME, []byte("lo\x00"))}.bytes(1))
	f.Add(reply{kind: unix.RTM_NEWNEIGH, body: put(make([]byte, unix.SizeofNdMsg), unix.NDA_DST, []byte{10, 0, 0, 1})}.bytes(1))
	jump := put(put(nil, unix.NFTA_VERDICT_CODE, []byte{255, 255, 255, 253}), unix.NFTA_VERDICT_CHAIN, []byte("cali-FORWARD\x00"))
	does := put(put(nil, unix.NFTA_EXPR_NAME, []byte("immediate\x00")), unix.NFTA_EXPR_DATA, put(nil, unix.NFTA_IMMEDIATE_DATA, put(nil, unix.NFTA_DATA_VERDICT, jump)))
	rule := put(put(make([]byte, nfgenSize), unix.NFTA_RULE_CHAIN, []byte("FORWARD\x00")), unix.NFTA_RULE_EXPRESSIONS, put(nil, 1, does))
	if _, r, err := parseChainRule(rule); err != nil || r.Does != "jump cali-FORWARD" || r.If {
		f.Fatalf("%+v, %v", r, err)
	}
	f.Add(reply{kind: nft(unix.NFT_MSG_NEWRULE), body: rule}.bytes(1))
	f.Add([]byte{16, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = Messages(b, func(m Message) (bool, error) {
			d, err := parseLink(m.Body)
			if err == nil && !d.Pair() && d.Peer != 0 {
				t.Errorf("a %q has another end", d.Kind)
			}
			rows, _ := parseRoute(m.Body, []model.Route{})
			for _, r := range rows {
				if !r.Dst.IsValid() {
					t.Errorf("a route to nowhere: %+v", r)
				}
			}
			_, _ = parseAddress(m.Body)
			_, _ = parseRule(m.Body)
			if n, noise, err := parseNeighbour(m.Body); err == nil && !noise && !n.IP.IsValid() {
				t.Errorf("a neighbour without address: %+v", n)
			}
			_, _ = parseForward(m.Body)
			if c, known, err := parseChain(m.Body); err == nil && known && c.Family == "" {
				t.Errorf("a chain of no family: %+v", c)
			}
			if _, r, err := parseChainRule(m.Body); err == nil && strings.ContainsRune(strings.TrimPrefix(strings.TrimPrefix(r.Does, "jump "), "goto "), 0) {
				t.Errorf("a verdict with a zero byte: %q", r.Does)
			}
			_ = refused(m.Body)
			return true, nil
		})
	})
}
