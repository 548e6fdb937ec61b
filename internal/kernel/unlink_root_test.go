//go:build linux

package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
)

func yes(context.Context) error { return nil }

var errNo = errors.New("somebody says no")

func no(context.Context) error { return errNo }

// unlinking reads a device as whoever plans does.
func unlinking(t *testing.T, name string) kernel.Unlinking {
	t.Helper()
	c, err := kernel.ReadHostVeth(t.Context(), kernel.Options{}, name)
	if err != nil || c == nil {
		t.Fatalf("%s: %+v, %v", name, c, err)
	}
	return kernel.Unlinking{HostVeth: *c, Pin: c.PeerNS, Check: func(context.Context, []model.Route) error { return nil }}
}

func there(t *testing.T, name string) int {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		return 0
	}
	return l.Attrs().Index
}

func unlink(t *testing.T, u kernel.Unlinking) (bool, error) {
	t.Helper()
	return kernel.Unlink(t.Context(), kernel.Options{}, u)
}

// TestRootUnlink: the right device goes, and no other; when it is gone, that is said.
func TestRootUnlink(t *testing.T) {
	if !alone(t) {
		return
	}
	for i := range 3 {
		wire(t, pin(t, fmt.Sprint("cni-", i)), fmt.Sprint("cali", i), fmt.Sprintf("10.0.0.%d/32", i+1))
	}
	u := unlinking(t, "cali1")
	var routes []model.Route
	u.Check = func(_ context.Context, r []model.Route) error { routes = r; return nil }
	u.Dry = true
	if begun, err := unlink(t, u); begun || err != nil || there(t, "cali1") == 0 {
		t.Fatalf("dry: %v, %v", begun, err)
	}
	if len(routes) != 1 || routes[0].Dst != netip.MustParsePrefix("10.0.0.2/32") {
		t.Errorf("routes to it: %+v", routes)
	}
	u.Dry = false
	if begun, err := unlink(t, u); !begun || err != nil {
		t.Fatalf("%v, %v", begun, err)
	}
	if there(t, "cali0") == 0 || there(t, "cali1") != 0 || there(t, "cali2") == 0 {
		t.Error("not the one that was named")
	}
	if begun, err := unlink(t, u); begun || !errors.Is(err, kernel.ErrGone) {
		t.Errorf("again: %v, %v", begun, err)
	}
	if c, err := kernel.ReadHostVeth(t.Context(), kernel.Options{}, "cali1"); c != nil || err != nil {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestRootUnlinkNewOfTheSameName: ADD of a pod of that name has made it anew meanwhile.
func TestRootUnlinkNewOfTheSameName(t *testing.T) {
	if !alone(t) {
		return
	}
	path := pin(t, "cni-1")
	wire(t, path, "cali1", "10.0.0.1/32")
	old := unlinking(t, "cali1")
	renew := func() {
		l, err := netlink.LinkByName("cali1")
		must(t, err)
		must(t, netlink.LinkDel(l))
		wire(t, path, "cali1", "10.0.0.1/32")
	}
	old.Check = func(context.Context, []model.Route) error { renew(); return nil }
	if begun, err := unlink(t, old); begun || !errors.Is(err, kernel.ErrGone) {
		t.Errorf("made anew while we look: %v, %v", begun, err)
	}
	if begun, err := unlink(t, old); begun || !errors.Is(err, kernel.ErrGone) {
		t.Errorf("made anew before we look: %v, %v", begun, err)
	}
	now := unlinking(t, "cali1")
	mixed := old
	mixed.Index = now.Index // the name and the number are right, the other end is another
	mixed.Peer, mixed.Check = now.Peer+1, now.Check
	if begun, err := unlink(t, mixed); begun || err == nil {
		t.Errorf("another other end: %v, %v", begun, err)
	}
	if there(t, "cali1") != now.Index {
		t.Error("the new device is gone")
	}
}

// TestRootUnlinkRefuses: every condition, broken once.
func TestRootUnlinkRefuses(t *testing.T) {
	if !alone(t) {
		return
	}
	pinned := pin(t, "cni-1")
	wire(t, pinned, "cali1", "10.0.0.1/32")
	wire(t, pin(t, "cni-2"), "eth7", "10.0.0.2/32")
	lived := fmt.Sprintf("/proc/%d/ns/net", live(t, "X=1", "/bin/sleep", "60"))
	wire(t, lived, "cali3", "10.0.0.3/32")
	for _, l := range []netlink.Link{
		&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "cali4"}},
		&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "cali5"}, PeerName: "other5"},
		&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "cali6"}, PeerName: "other6"},
	} {
		must(t, netlink.LinkAdd(l))
	}
	on := func(name, ip string) {
		l, err := netlink.LinkByName(name)
		must(t, err)
		must(t, netlink.LinkSetUp(l))
		must(t, netlink.AddrAdd(l, &netlink.Addr{IPNet: cidr(t, ip)}))
	}
	on("other5", "10.9.0.1/24")
	wire(t, pin(t, "cni-7"), "cali7", "10.0.0.7/32")
	on("cali7", "10.9.7.1/32")
	for name, c := range map[string]struct {
		device string
		change func(*kernel.Unlinking)
		says   string
	}{
		"a file pins it, and nobody knew":   {"cali1", func(u *kernel.Unlinking) { u.Pin = 0 }, "pins"},
		"a file pins another":               {"cali1", func(u *kernel.Unlinking) { u.Pin++ }, "pins"},
		"it was another namespace":          {"cali1", func(u *kernel.Unlinking) { u.PeerNS++; u.Pin++ }, "has changed"},
		"another number of the namespace":   {"cali1", func(u *kernel.Unlinking) { u.PeerID++ }, "has changed"},
		"no number of the namespace":        {"cali1", func(u *kernel.Unlinking) { u.PeerID = -1 }, "does not report"},
		"another MAC":                       {"cali1", func(u *kernel.Unlinking) { u.MAC = "02:00:00:00:00:01" }, "has changed"},
		"another name":                      {"cali1", func(u *kernel.Unlinking) { u.Name = "cali9" }, "has changed"},
		"somebody says no":                  {"cali1", func(u *kernel.Unlinking) { u.Check = func(context.Context, []model.Route) error { return errNo } }, errNo.Error()},
		"not Calico's":                      {"eth7", func(*kernel.Unlinking) {}, "is not a pod interface of Calico"},
		"a process lives there":             {"cali3", func(*kernel.Unlinking) {}, "a process runs"},
		"and it was not seen":               {"cali3", func(u *kernel.Unlinking) { u.Lived = false }, "has changed"},
		"no veth":                           {"cali4", func(*kernel.Unlinking) {}, "is not a veth"},
		"another kind of pair":              {"cali1", func(u *kernel.Unlinking) { u.Kind = "netkit" }, "is not a veth"},
		"the host has an address on it":     {"cali7", func(*kernel.Unlinking) {}, "has the address"},
		"the host uses the other end":       {"cali5", func(*kernel.Unlinking) {}, "lead to the peer"},
		"the namespace is pinned meanwhile": {"cali1", func(u *kernel.Unlinking) { u.Pinned, u.PeerNS = "", 0 }, "does not report"},
	} {
		before := there(t, c.device)
		u := unlinking(t, c.device)
		c.change(&u)
		if begun, err := unlink(t, u); begun || err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, kernel.ErrGone) {
			t.Errorf("%s: %v, %v", name, begun, err)
		}
		if before == 0 || there(t, c.device) != before {
			t.Errorf("%s: the device is gone", name)
		}
	}
	if begun, err := unlink(t, unlinking(t, "cali6")); !begun || err != nil || there(t, "cali6")+there(t, "other6") != 0 {
		t.Errorf("whose other end is an idle one of the host: %v, %v", begun, err)
	}
	// No process lives there and no file pins it: a descriptor alone keeps it, and whoever has
	// that may put a process into it.
	held, err := unix.Open(pinned, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	must(t, err)
	defer func() { _ = unix.Close(held) }()
	unpin(t, pinned)
	u := unlinking(t, "cali1")
	if u.PeerNS != 0 || u.Pinned != "" {
		t.Errorf("%+v", u.HostVeth)
	}
	if begun, err := unlink(t, u); begun || err == nil || there(t, "cali1") == 0 {
		t.Errorf("where nobody can look: %v, %v", begun, err)
	}
}

// TestRootUnlinkWithoutTheRight: then the kernel says no, and that is known.
func TestRootUnlinkWithoutTheRight(t *testing.T) {
	if !alone(t) {
		return
	}
	wire(t, pin(t, "cni-1"), "cali1", "10.0.0.1/32")
	u := unlinking(t, "cali1")
	must(t, lost(func() error {
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var caps [2]unix.CapUserData
		if err := unix.Capget(&head, &caps[0]); err != nil {
			return err
		}
		caps[0].Effective &^= 1 << unix.CAP_NET_ADMIN
		caps[0].Permitted &^= 1 << unix.CAP_NET_ADMIN
		if err := unix.Capset(&head, &caps[0]); err != nil {
			return err
		}
		if begun, err := kernel.Unlink(context.Background(), kernel.Options{}, u); begun || !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("%v, %w", begun, err)
		}
		return nil
	}))
	if there(t, "cali1") == 0 {
		t.Error("it is gone")
	}
}

// TestRootUnlinkOfTheHostOnly: anywhere else we would take a pod's device for the host's.
func TestRootUnlinkOfTheHostOnly(t *testing.T) {
	if !alone(t) {
		return
	}
	wire(t, pin(t, "cni-1"), "cali1", "10.0.0.1/32")
	u := unlinking(t, "cali1")
	must(t, lost(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		if begun, err := kernel.Unlink(context.Background(), kernel.Options{}, u); begun || err == nil || errors.Is(err, kernel.ErrGone) {
			return fmt.Errorf("%v, %w", begun, err)
		}
		return nil
	}))
	if there(t, "cali1") == 0 {
		t.Error("it is gone")
	}
}
