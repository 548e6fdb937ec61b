//go:build linux

package kernel_test

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A pod is a network namespace that is wired as Calico does it.
type pod struct {
	door   string // a path to its namespace
	device string // on the host
	index  int
	ip     string
}

const gateway = "169.254.1.1"

// pin makes an empty namespace that a file keeps.
func pin(t *testing.T, name string) (path string) {
	t.Helper()
	path = "/run/netns/" + name
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, lost(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		return unix.Mount("/proc/thread-self/ns/net", path, "", unix.MS_BIND, "")
	}))
	return path
}

// lost runs f on a thread that is not used again.
func lost(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- f()
	}()
	return <-done
}

// unpin removes the file, and with it the namespace if nobody lives there.
func unpin(t *testing.T, path string) {
	t.Helper()
	must(t, unix.Unmount(path, unix.MNT_DETACH))
	must(t, os.Remove(path))
}

// live starts a process in a new namespace.
func live(t *testing.T, env string, argv ...string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// inside speaks to a namespace.
func inside(t *testing.T, path string) *netlink.Handle {
	t.Helper()
	ns, err := netns.GetFromPath(path)
	must(t, err)
	defer ns.Close()
	h, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	must(t, err)
	return h
}

func cidr(t *testing.T, s string) *net.IPNet {
	t.Helper()
	ip, n, err := net.ParseCIDR(s)
	must(t, err)
	n.IP = ip
	return n
}

func hardware(t *testing.T, s string) net.HardwareAddr {
	t.Helper()
	mac, err := net.ParseMAC(s)
	must(t, err)
	return mac
}

// wire connects a namespace to the host with an address, given as 10.0.0.1/32.
func wire(t *testing.T, path, device, ip string) pod {
	t.Helper()
	ns, err := netns.GetFromPath(path)
	must(t, err)
	defer ns.Close()
	must(t, netlink.LinkAdd(&netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: device, HardwareAddr: hardware(t, "ee:ee:ee:ee:ee:ee"), Flags: net.FlagUp},
		PeerName:  "eth0", PeerNamespace: netlink.NsFd(ns),
	}))
	host, err := netlink.LinkByName(device)
	must(t, err)
	must(t, netlink.LinkSetUp(host))
	must(t, setting("ipv4", device, "proxy_arp", "1"))

	h := inside(t, path)
	defer h.Close()
	eth0, err := h.LinkByName("eth0")
	must(t, err)
	must(t, h.LinkSetUp(eth0))
	index := eth0.Attrs().Index
	must(t, h.AddrAdd(eth0, &netlink.Addr{IPNet: cidr(t, ip)}))
	must(t, h.RouteAdd(&netlink.Route{LinkIndex: index, Dst: cidr(t, gateway+"/32"), Scope: netlink.SCOPE_LINK}))
	must(t, h.RouteAdd(&netlink.Route{LinkIndex: index, Gw: net.ParseIP(gateway)}))
	must(t, h.NeighSet(&netlink.Neigh{LinkIndex: index, IP: net.ParseIP(gateway), HardwareAddr: hardware(t, "ee:ee:ee:ee:ee:ee"), State: netlink.NUD_PERMANENT}))
	must(t, netlink.RouteAdd(&netlink.Route{LinkIndex: host.Attrs().Index, Dst: cidr(t, ip), Scope: netlink.SCOPE_LINK}))
	return pod{path, device, host.Attrs().Index, cidr(t, ip).IP.String()}
}

func setting(family, device, key, value string) error {
	return os.WriteFile("/proc/sys/net/"+family+"/conf/"+device+"/"+key, []byte(value), 0o600)
}

func inodeOf(t *testing.T, path string) uint64 {
	t.Helper()
	var st unix.Stat_t
	must(t, unix.Stat(path, &st))
	return st.Ino
}

// look asks the senses that fill the tables, and takes nothing but complete answers.
func look(t *testing.T, tables ...model.Table) *model.NodeState {
	t.Helper()
	facts, coverage := (&observe.NodeReader{Node: "n", Within: 10 * time.Second, Collectors: kernel.Collectors(kernel.Options{})}).Read(t.Context(), tables...)
	for _, c := range coverage {
		if c.State != model.Complete {
			t.Fatalf("%s is %s: %s", c.Table, c.State, c.Reason)
		}
	}
	return facts
}

// only gives the one row that is wanted.
func only[T any](t *testing.T, rows []T, what string, want func(*T) bool) T {
	t.Helper()
	var found []T
	for i := range rows {
		if want(&rows[i]) {
			found = append(found, rows[i])
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s: %d rows, want 1, in %+v", what, len(found), rows)
	}
	return found[0]
}
