//go:build linux

package kernel_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
)

func neighbours(t *testing.T) (out []string) {
	t.Helper()
	for _, n := range look(t, model.Neighbours).Neighbours {
		if n.State == "PERMANENT" {
			out = append(out, n.IP.String()+" "+n.MAC)
		}
	}
	slices.Sort(out)
	return out
}

// TestRootUnneighbour: one entry goes, if it is still the one that was meant.
func TestRootUnneighbour(t *testing.T) {
	if !alone(t) {
		return
	}
	a := wire(t, pin(t, "cni-1"), "cali1", "10.0.0.1/32")
	b := wire(t, pin(t, "cni-2"), "cali2", "10.0.0.2/32")
	eth := wire(t, pin(t, "cni-3"), "eth7", "10.0.0.3/32")
	entry := func(p pod, ip, mac string) {
		must(t, netlink.NeighSet(&netlink.Neigh{LinkIndex: p.index, IP: net.ParseIP(ip), HardwareAddr: hardware(t, mac), State: netlink.NUD_PERMANENT}))
	}
	const old, young = "02:00:00:00:00:01", "02:00:00:00:00:02"
	for _, p := range []pod{a, b, eth} {
		entry(p, "10.0.0.1", old)
		entry(p, "10.0.0.9", old)
	}
	ip := netip.MustParseAddr("10.0.0.1")
	read := func(device string) kernel.NeighbourEntry {
		t.Helper()
		n, err := kernel.ReadNear(t.Context(), kernel.Options{}, ip, device)
		if err != nil || n == nil {
			t.Fatalf("%+v, %v", n, err)
		}
		return *n
	}
	before := neighbours(t)
	want := read("cali2")
	stale, other := want, want
	stale.MAC = young
	other.Link = a.index
	passing := want
	passing.State = "REACHABLE"
	for name, c := range map[string]struct {
		n     kernel.NeighbourEntry
		check func(context.Context) error
		dry   bool
	}{
		"dry":                      {want, yes, true},
		"somebody says no":         {want, no, false},
		"another MAC":              {stale, yes, false},
		"another device":           {other, yes, false},
		"one that passes":          {passing, yes, false},
		"not Calico's":             {read("eth7"), yes, false},
		"it changes while we look": {want, func(context.Context) error { entry(b, "10.0.0.1", young); return nil }, false},
	} {
		begun, err := kernel.Unneighbour(t.Context(), kernel.Options{}, c.n, c.check, c.dry)
		if begun || (err == nil) != c.dry || errors.Is(err, kernel.ErrGone) {
			t.Errorf("%s: %v, %v", name, begun, err)
		}
		entry(b, "10.0.0.1", old)
		if now := neighbours(t); !slices.Equal(now, before) {
			t.Errorf("%s: %v", name, now)
		}
	}
	// What the kernel forgets by itself is not ours to delete.
	must(t, netlink.NeighSet(&netlink.Neigh{LinkIndex: a.index, IP: net.ParseIP("10.0.0.8"), HardwareAddr: hardware(t, old), State: netlink.NUD_STALE}))
	learned, err := kernel.ReadNear(t.Context(), kernel.Options{}, netip.MustParseAddr("10.0.0.8"), "cali1")
	if err != nil || learned == nil || learned.State == "PERMANENT" {
		t.Fatalf("%+v, %v", learned, err)
	}
	if begun, err := kernel.Unneighbour(t.Context(), kernel.Options{}, *learned, yes, false); begun || err == nil {
		t.Errorf("learned: %v, %v", begun, err)
	}
	if begun, err := kernel.Unneighbour(t.Context(), kernel.Options{}, want, yes, false); !begun || err != nil {
		t.Errorf("%v, %v", begun, err)
	}
	if now := neighbours(t); len(now) != len(before)-1 {
		t.Errorf("%v", now)
	}
	if n, err := kernel.ReadNear(t.Context(), kernel.Options{}, ip, "cali2"); n != nil || err != nil {
		t.Errorf("%+v, %v", n, err)
	}
	if read("cali1") == want {
		t.Error("not the one that was named")
	}
	if begun, err := kernel.Unneighbour(t.Context(), kernel.Options{}, want, yes, false); begun || !errors.Is(err, kernel.ErrGone) {
		t.Errorf("again: %v, %v", begun, err)
	}
}

func unicast(t *testing.T) (out []string) {
	t.Helper()
	for _, r := range look(t, model.Routes).Routes {
		if r.Type == "" {
			out = append(out, r.Dst.String())
		}
	}
	slices.Sort(out)
	return out
}

// TestRootUnroute: a route goes by all its attributes.
func TestRootUnroute(t *testing.T) {
	if !alone(t) {
		return
	}
	own := wire(t, pin(t, "cni-1"), "cali1", "10.0.0.1/32")
	other := wire(t, pin(t, "cni-2"), "cali2", "10.0.0.2/32")
	eth := wire(t, pin(t, "cni-3"), "eth7", "10.0.0.3/32")
	must(t, netlink.RouteReplace(&netlink.Route{LinkIndex: other.index, Dst: cidr(t, "10.0.0.1/32"), Scope: netlink.SCOPE_LINK, Protocol: 99}))
	must(t, netlink.RouteAdd(&netlink.Route{LinkIndex: other.index, Dst: cidr(t, "10.8.0.0/24"), Scope: netlink.SCOPE_LINK}))
	read := func(ip string) []model.Route {
		t.Helper()
		w, err := kernel.ReadHostRoutes(t.Context(), kernel.Options{}, netip.MustParseAddr(ip))
		must(t, err)
		return w.Routes
	}
	wrong := only(t, read("10.0.0.1"), "the route", func(*model.Route) bool { return true })
	if wrong.Link != other.index || wrong.Protocol != 99 {
		t.Fatalf("%+v", wrong)
	}
	before := unicast(t)
	with := func(change func(*model.Route)) model.Route { r := wrong; change(&r); return r }
	for name, c := range map[string]struct {
		r     model.Route
		check func(context.Context) error
		says  string
	}{
		"another device":   {with(func(r *model.Route) { r.Link = own.index }), yes, "does not exist any more"},
		"another protocol": {with(func(r *model.Route) { r.Protocol = 3 }), yes, "does not exist any more"},
		"another metric":   {with(func(r *model.Route) { r.Metric = 7 }), yes, "does not exist any more"},
		"another table":    {with(func(r *model.Route) { r.Table = 100 }), yes, "does not exist any more"},
		"the local table":  {with(func(r *model.Route) { r.Table = 255 }), yes, "not a pod's host route"},
		"a network":        {with(func(r *model.Route) { r.Dst = netip.MustParsePrefix("10.8.0.0/24") }), yes, "not a pod's host route"},
		"not Calico's":     {only(t, read("10.0.0.3"), "eth7", func(r *model.Route) bool { return r.Link == eth.index }), yes, "is not a pod interface of Calico"},
		"somebody says no": {wrong, no, errNo.Error()},
	} {
		begun, err := kernel.Unroute(t.Context(), kernel.Options{}, c.r, c.check, false)
		if begun || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v", name, begun, err)
		}
		if now := unicast(t); !slices.Equal(now, before) {
			t.Errorf("%s: %v", name, now)
		}
	}
	if begun, err := kernel.Unroute(t.Context(), kernel.Options{}, wrong, yes, true); begun || err != nil || len(read("10.0.0.1")) != 1 {
		t.Errorf("dry: %v, %v", begun, err)
	}
	if begun, err := kernel.Unroute(t.Context(), kernel.Options{}, wrong, yes, false); !begun || err != nil || len(read("10.0.0.1")) != 0 {
		t.Errorf("%v, %v", begun, err)
	}
	if now := unicast(t); len(now) != len(before)-1 {
		t.Errorf("all: %v, were %v", now, before)
	}
	if begun, err := kernel.Unroute(t.Context(), kernel.Options{}, wrong, yes, false); begun || !errors.Is(err, kernel.ErrGone) {
		t.Errorf("again: %v, %v", begun, err)
	}
}

// TestRootSet: a switch of a device that is still the one that was meant.
func TestRootSet(t *testing.T) {
	if !alone(t) {
		return
	}
	path := pin(t, "cni-1")
	wire(t, path, "cali1", "10.0.0.1/32")
	wire(t, pin(t, "cni-2"), "eth7", "10.0.0.2/32")
	value := func(device string) string {
		b, err := os.ReadFile("/proc/sys/net/ipv4/conf/" + device + "/proxy_arp")
		must(t, err)
		return strings.TrimSpace(string(b))
	}
	must(t, setting("ipv4", "cali1", "proxy_arp", "0"))
	read := func() kernel.Setting {
		t.Helper()
		v, err := kernel.ReadSetting(t.Context(), kernel.Options{}, "cali1", "proxy_arp", false)
		if err != nil || v == nil {
			t.Fatalf("%+v, %v", v, err)
		}
		return *v
	}
	want := read()
	with := func(change func(*kernel.Setting)) kernel.Setting { v := want; change(&v); return v }
	renew := func(context.Context) error {
		l, err := netlink.LinkByName("cali1")
		must(t, err)
		must(t, netlink.LinkDel(l))
		wire(t, path, "cali1", "10.0.0.1/32")
		return setting("ipv4", "cali1", "proxy_arp", "0")
	}
	for name, c := range map[string]struct {
		v     kernel.Setting
		value string
		check func(context.Context) error
	}{
		"another device":   {with(func(v *kernel.Setting) { v.Index++ }), "1", yes},
		"another value":    {with(func(v *kernel.Setting) { v.Value = "1" }), "1", yes},
		"not Calico's":     {with(func(v *kernel.Setting) { v.Device = "eth7" }), "1", yes},
		"a path":           {with(func(v *kernel.Setting) { v.Device = "cali1/../eth7" }), "1", yes},
		"not ours to set":  {with(func(v *kernel.Setting) { v.Key = "rp_filter" }), "1", yes},
		"of the other":     {with(func(v *kernel.Setting) { v.IPv6 = true }), "1", yes},
		"no switch":        {want, "2", yes},
		"somebody says no": {want, "1", no},
		"made anew":        {want, "1", renew},
	} {
		begun, err := kernel.Set(t.Context(), kernel.Options{}, c.v, c.value, c.check, false)
		if begun || err == nil || value("cali1") != "0" || value("eth7") != "1" {
			t.Errorf("%s: %v, %v", name, begun, err)
		}
	}
	want = read()
	if begun, err := kernel.Set(t.Context(), kernel.Options{}, want, "1", yes, true); begun || err != nil || value("cali1") != "0" {
		t.Errorf("dry: %v, %v", begun, err)
	}
	if begun, err := kernel.Set(t.Context(), kernel.Options{}, want, "1", yes, false); !begun || err != nil || value("cali1") != "1" {
		t.Errorf("%v, %v", begun, err)
	}
	if v, err := kernel.ReadSetting(t.Context(), kernel.Options{}, "cali9", "proxy_arp", false); v != nil || err != nil {
		t.Errorf("no such device: %+v, %v", v, err)
	}
}

// TestRootDeadSettingIsNotWritten: what was opened of a device that went is not another's.
func TestRootDeadSettingIsNotWritten(t *testing.T) {
	if !alone(t) {
		return
	}
	path := pin(t, "cni-1")
	wire(t, path, "cali1", "10.0.0.1/32")
	f, err := os.OpenFile("/proc/sys/net/ipv4/conf/cali1/proxy_arp", os.O_WRONLY, 0)
	must(t, err)
	defer func() { _ = f.Close() }()
	l, err := netlink.LinkByName("cali1")
	must(t, err)
	must(t, netlink.LinkDel(l))
	wire(t, path, "cali1", "10.0.0.1/32")
	must(t, setting("ipv4", "cali1", "proxy_arp", "0"))
	if n, err := f.WriteString("1"); err == nil {
		t.Errorf("wrote %d bytes", n)
	}
	if b, _ := os.ReadFile("/proc/sys/net/ipv4/conf/cali1/proxy_arp"); strings.TrimSpace(string(b)) != "0" {
		t.Errorf("the new device has %q", b)
	}
}
