//go:build linux

package kernel_test

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/kernel/podns"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// TestRootNamespacesAreNotHeld: while we watch and read, a namespace that nobody else
// wants ends, and its device on the host with it.
func TestRootNamespacesAreNotHeld(t *testing.T) {
	if !alone(t) {
		return
	}
	p := wire(t, pin(t, "cni-1"), "cali1", "10.0.0.1/32")
	watch(t, kernel.Options{}, func(uint64, ...model.Table) {})
	look(t)
	unpin(t, p.door)
	for range 1200 {
		if _, err := netlink.LinkByName("cali1"); err != nil {
			if f := look(t); len(f.Attachments) != 0 {
				t.Errorf("still there: %+v", f.Attachments)
			}
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("the namespace is held: its device is still there")
}

func TestRootReadingLeavesNothing(t *testing.T) {
	if !alone(t) {
		return
	}
	for i := range 8 {
		wire(t, pin(t, fmt.Sprint("cni-", i)), fmt.Sprint("cali", i), fmt.Sprintf("10.0.0.%d/32", i+1))
	}
	count := func(dir string) int {
		names, err := os.ReadDir(dir)
		must(t, err)
		return len(names)
	}
	for range 20 {
		look(t)
	}
	files, threads := count("/proc/self/fd"), count("/proc/self/task")
	for range 100 {
		look(t)
	}
	if n := count("/proc/self/fd"); n > files {
		t.Errorf("%d descriptors, before 100 readings %d", n, files)
	}
	if n := count("/proc/self/task"); n > threads+20 { // the runtime may start a few; 400 visits were made
		t.Errorf("%d threads, before 100 readings %d", n, threads)
	}
	home := inodeOf(t, "/proc/1/ns/net")
	tasks, err := os.ReadDir("/proc/self/task")
	must(t, err)
	for _, task := range tasks {
		if inodeOf(t, "/proc/self/task/"+task.Name()+"/ns/net") != home {
			t.Errorf("thread %s is not at home", task.Name())
		}
	}
}

// TestRootZombieLeader: a process whose first thread has ended still lives in its namespace.
func TestRootZombieLeader(t *testing.T) {
	if !alone(t) {
		return
	}
	pid := live(t, zombieEnv+"=1", "/proc/self/exe")
	door := fmt.Sprintf("/proc/%d/ns/net", pid)
	for i := 0; ; i++ {
		if _, err := os.Stat(door); err != nil {
			break
		}
		if i == 1500 {
			t.Fatal("the leader does not end")
		}
		time.Sleep(20 * time.Millisecond)
	}
	f := look(t, model.Attachments)
	if len(f.Attachments) != 1 {
		t.Fatalf("%+v", f.Attachments)
	}
	if a := f.Attachments[0]; a.PIDs != 1 || !strings.HasPrefix(a.NetNS, fmt.Sprintf("/proc/%d/task/", pid)) || a.Inode == inodeOf(t, "/proc/1/ns/net") {
		t.Errorf("%+v", a)
	}
}

// TestRootFilledNamespaceIsBounded: who fills a namespace makes us say that we do not see
// all of it; what we see of the others stays.
func TestRootFilledNamespaceIsBounded(t *testing.T) {
	if !alone(t) {
		return
	}
	full := wire(t, pin(t, "full"), "cali1", "10.0.0.1/32")
	wire(t, pin(t, "good"), "cali2", "10.0.0.2/32")
	h := inside(t, full.door)
	defer h.Close()
	eth0, err := h.LinkByName("eth0")
	must(t, err)
	for i := range 1500 {
		dst := &net.IPNet{IP: net.IPv4(10, 9, byte(i>>8), byte(i)), Mask: net.CIDRMask(32, 32)}
		must(t, h.RouteAdd(&netlink.Route{Dst: dst, LinkIndex: eth0.Attrs().Index, Scope: netlink.SCOPE_LINK}))
	}
	f, coverage := (&observe.NodeReader{Node: "n", Within: 10 * time.Second, Collectors: kernel.Collectors(kernel.Options{})}).Read(t.Context(), model.Attachments)
	if c := coverage[0]; c.State != model.Partial || !strings.Contains(c.Reason, "more than 1000") {
		t.Errorf("%+v", c)
	}
	good := only(t, f.Attachments, "good", func(a *model.Attachment) bool { return a.NetNS == "/run/netns/good" })
	if len(good.IPs) != 1 || len(good.Routes) != 2 || len(good.Neighbours) != 1 {
		t.Errorf("%+v", good)
	}
	bad := only(t, f.Attachments, "full", func(a *model.Attachment) bool { return a.NetNS == full.door })
	if len(bad.Routes) > 1000 || len(bad.Routes) < 500 || len(bad.IPs) != 1 {
		t.Errorf("%d routes, %v", len(bad.Routes), bad.IPs)
	}
}

func TestRootReadOne(t *testing.T) {
	if !alone(t) {
		return
	}
	p := wire(t, pin(t, "cni-1"), "cali1", "10.0.0.1/32")
	f, err := os.Open(p.door)
	must(t, err)
	defer f.Close()
	rows, err := podns.Read(t.Context(), f)
	must(t, err)
	if len(rows) != 1 || rows[0].Device != "eth0" || rows[0].Inode != inodeOf(t, p.door) || rows[0].Peer != p.index {
		t.Errorf("%+v", rows)
	}
	other, err := os.Open("/proc/self/ns/mnt")
	must(t, err)
	defer other.Close()
	if rows, err := podns.Read(t.Context(), other); err == nil {
		t.Errorf("read a mount namespace: %+v", rows)
	}
}
