package server

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
)

// TestRootChangeLink: an interface that is in use is not deleted.
func TestRootChangeLink(t *testing.T) {
	if !alone(t) {
		return
	}
	d := newStand(t)
	index, inode := d.wire("cali1", "10.0.0.1/32")
	d.wire("cali2", "10.0.0.2/32")
	refresh := func() {
		if late := d.refresh(t.Context()); len(late) > 0 {
			t.Fatalf("late: %v", late)
		}
	}
	refresh()
	args := []string{"index", fmt.Sprint(index), "peerNS", fmt.Sprint(inode), "seen", "0"}
	unlink := func(args ...string) string { return d.do("unlink", model.KindLink, "cali1", args...) }
	d.want("too young", unlink(args[:4]...), "only")
	d.want("too young for the plan", unlink(append(args[:4:4], "seen", "60")...), "only")
	d.want("another index", unlink("index", fmt.Sprint(index+1), "seen", "0"), "index")
	d.want("pinned, and the plan does not know", unlink("index", fmt.Sprint(index), "seen", "0"), "pins")
	with := func(change func(), back func()) string {
		d.play(change)
		defer d.play(back)
		return unlink(args...)
	}
	nobody := func() { d.sandboxes, d.cni, d.plugins = nil, nil, []string{"calico"} }
	d.want("a sandbox has it", with(func() { d.sandboxes = []model.Sandbox{{ID: "s", Inode: inode}} }, nobody), "sandbox")
	d.want("a sandbox of nowhere", with(func() { d.sandboxes = []model.Sandbox{{ID: "s", Ready: true}} }, nobody), "is unknown")
	d.want("an ADD is under way", with(func() { d.cni = []model.Process{{Command: "ADD", CNI: "c"}} }, nobody), "CNI call")
	d.want("not Calico's", with(func() { d.plugins = []string{"flannel"} }, nobody), "Calico's")
	must(t, netlink.RouteAdd(&netlink.Route{LinkIndex: index, Dst: cidr(t, "10.0.0.2/32"), Scope: netlink.SCOPE_LINK, Priority: 7}))
	var st unix.Stat_t
	must(t, unix.Stat("/run/netns/cali2", &st))
	d.want("packets to a pod in use go through it", with(func() { d.sandboxes = []model.Sandbox{{ID: "s", Inode: st.Ino, Ready: true}} }, nobody), "packets to 10.0.0.2")
	if _, err := netlink.LinkByName("cali1"); err != nil {
		t.Fatal(err)
	}
	began := now()
	d.want("nobody", unlink(args...), "done")
	t.Logf("took %s", now().Sub(began))
	d.want("again", unlink(args...), "already")
	if _, err := netlink.LinkByName("cali2"); err != nil {
		t.Error(err)
	}
	// The same name, another device: what was planned is not done to it.
	thing, err := d.fleet.NodeObject(t.Context(), model.Ref{Kind: model.KindLink, Name: "n1/cali2"}, nil)
	must(t, err)
	l, err := netlink.LinkByName("cali2")
	must(t, err)
	must(t, netlink.LinkDel(l))
	must(t, unix.Unmount("/run/netns/cali2", unix.MNT_DETACH))
	d.wire("cali2", "10.0.0.2/32")
	refresh()
	got, err := d.fleet.Change(t.Context(), agent.Change{Verb: "unlink", Ref: thing.Ref, Expect: thing.Digest, Args: map[string]string{"index": fmt.Sprint(l.Attrs().Index), "seen": "0"}})
	if err != nil || !strings.Contains(got.Refused, "has changed since the plan") || got.Digest == thing.Digest {
		t.Errorf("%+v, %v", got, err)
	}
	if now, err := netlink.LinkByName("cali2"); err != nil || now.Attrs().Index == l.Attrs().Index {
		t.Errorf("%v, %v", now, err)
	}
}

// TestRootChangeWays: what is right stays.
func TestRootChangeWays(t *testing.T) {
	if !alone(t) {
		return
	}
	d := newStand(t)
	own, inode := d.wire("cali1", "10.0.0.1/32")
	other, _ := d.wire("cali2", "10.0.0.2/32")
	d.play(func() { d.sandboxes = []model.Sandbox{{ID: "s", Inode: inode, Ready: true}} })
	unroute := func(link int) string {
		return d.do("unroute", model.KindPath, "10.0.0.1", "link", fmt.Sprint(link), "protocol", "3")
	}
	d.want("the right route", unroute(own), "the route is correct")
	must(t, netlink.RouteReplace(&netlink.Route{LinkIndex: other, Dst: cidr(t, "10.0.0.1/32"), Scope: netlink.SCOPE_LINK, Protocol: 3}))
	d.play(func() { d.cni = []model.Process{{Command: "ADD"}} })
	d.want("the wrong one, while an ADD runs", unroute(other), "CNI call")
	d.play(func() { d.cni = nil })
	d.want("another route", unroute(own), "already")
	d.want("the wrong route", unroute(other), "done")

	const mac = "02:00:00:00:00:01"
	hw, err := net.ParseMAC(mac)
	must(t, err)
	near := func(link int, mac net.HardwareAddr) {
		must(t, netlink.NeighSet(&netlink.Neigh{LinkIndex: link, IP: net.ParseIP("10.0.0.1"), HardwareAddr: mac, State: netlink.NUD_PERMANENT}))
	}
	forget := func(device string, link int, mac string) string {
		return d.do("unneighbour", model.KindNeighbour, "10.0.0.1/"+device, "link", fmt.Sprint(link), "mac", mac)
	}
	f, err := d.fresh(t.Context(), model.Attachments)
	must(t, err)
	for _, a := range f.Attachments {
		if a.Inode == inode {
			right, err := net.ParseMAC(a.MAC)
			must(t, err)
			near(own, right)
			d.want("the right entry", forget("cali1", own, a.MAC), "the entry is correct")
		}
	}
	near(own, hw)
	near(other, hw)
	d.want("with another MAC", forget("cali1", own, mac), "done")
	d.want("on another device", forget("cali2", other, mac), "done")
	d.want("again", forget("cali2", other, mac), "already")

	must(t, os.WriteFile("/proc/sys/net/ipv4/conf/cali1/proxy_arp", []byte("0"), 0o600))
	set := func(key, value string) string {
		return d.do("sysctl", model.KindSysctl, "cali1/"+key, "index", fmt.Sprint(own), "value", value)
	}
	d.want("a switch", set("proxy_arp", "1"), "done")
	d.want("again", set("proxy_arp", "1"), "already")
	d.want("not ours", set("rp_filter", "0"), "not a sysctl")
	time.Sleep(50 * time.Millisecond)
	if late := d.refresh(t.Context(), model.Sysctls); len(late) > 0 {
		t.Errorf("late: %v", late)
	}
}
