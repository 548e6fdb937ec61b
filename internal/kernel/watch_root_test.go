//go:build linux

package kernel_test

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
)

type change struct {
	inode  uint64
	tables []model.Table
}

// watch listens until the test ends.
func watch(t *testing.T, o kernel.Options, changed func(inode uint64, tables ...model.Table)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done, began := make(chan error), make(chan struct{}, 1)
	first := true
	go func() {
		done <- kernel.Watch(ctx, o, kernel.Listener{Changed: func(inode uint64, tables ...model.Table) {
			if first {
				first = false
				if inode != kernel.Any || len(tables) != 7 {
					t.Errorf("began with %d %v", inode, tables)
				}
				began <- struct{}{}
				return
			}
			changed(inode, tables...)
		}, Heard: func(kernel.Written) {}, Listens: func(func() bool) {}})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-began:
	case <-time.After(5 * time.Second):
		t.Fatal("does not listen")
	}
}

func TestRootWatchHearsHostAndPods(t *testing.T) {
	if !alone(t) {
		return
	}
	p := wire(t, pin(t, "cni-1"), "cali1", "10.0.0.1/32")
	q := wire(t, pin(t, "cni-2"), "cali2", "10.0.0.2/32")
	changes := make(chan change, 10_000)
	watch(t, kernel.Options{}, func(inode uint64, tables ...model.Table) { changes <- change{inode, tables} })
	pod := inodeOf(t, p.door)
	h := inside(t, p.door)
	defer h.Close()
	eth0, err := h.LinkByName("eth0")
	must(t, err)
	index := eth0.Attrs().Index
	cali, err := netlink.LinkByName("cali1")
	must(t, err)

	expect := func(what string, inode uint64, table model.Table) {
		t.Helper()
		limit := time.After(30 * time.Second)
		for {
			select {
			case c := <-changes:
				if c.inode == inode && slices.Contains(c.tables, table) {
					return
				}
				if c.inode == inodeOf(t, q.door) {
					t.Errorf("%s: told of another pod: %v", what, c)
				}
			case <-limit:
				t.Fatalf("%s: not heard", what)
			}
		}
	}
	// Devices that were just made still settle, their IPv6 addresses for up to two seconds.
	time.Sleep(3 * time.Second)
	quiet(changes)
	steps := []struct {
		what  string
		do    func() error
		inode uint64
		table model.Table
	}{
		{"neighbour added in the pod", func() error {
			return h.NeighSet(&netlink.Neigh{LinkIndex: index, IP: net.ParseIP("169.254.1.9"), HardwareAddr: hardware(t, "02:00:00:00:00:09"), State: netlink.NUD_PERMANENT})
		}, pod, model.Attachments},
		{"route added in the pod", func() error {
			return h.RouteAdd(&netlink.Route{Dst: cidr(t, "10.9.0.0/16"), Gw: net.ParseIP(gateway), LinkIndex: index})
		}, pod, model.Attachments},
		{"route removed in the pod", func() error { return h.RouteDel(&netlink.Route{Dst: cidr(t, "10.9.0.0/16")}) }, pod, model.Attachments},
		{"address removed in the pod", func() error { return h.AddrDel(eth0, &netlink.Addr{IPNet: cidr(t, "10.0.0.1/32")}) }, pod, model.Paths},
		{"proxy_arp off", func() error { return setting("ipv4", "cali1", "proxy_arp", "0") }, 0, model.Sysctls},
		{"proxy_ndp on", func() error { return setting("ipv6", "cali1", "proxy_ndp", "1") }, 0, model.Sysctls},
		{"neighbour added on the host", func() error {
			return netlink.NeighSet(&netlink.Neigh{LinkIndex: p.index, IP: net.ParseIP("10.0.0.1"), HardwareAddr: hardware(t, "02:00:00:00:00:01"), State: netlink.NUD_PERMANENT})
		}, 0, model.Neighbours},
		{"route removed on the host", func() error {
			return netlink.RouteDel(&netlink.Route{Dst: cidr(t, "10.0.0.1/32"), LinkIndex: p.index, Scope: netlink.SCOPE_LINK})
		}, 0, model.Paths},
		{"rule added on the host", func() error {
			r := netlink.NewRule()
			r.Priority, r.Table = 50, 77
			return netlink.RuleAdd(r)
		}, 0, model.Rules},
		{"device changed in the pod", func() error { return h.LinkSetAlias(eth0, "x") }, pod, model.Attachments},
		{"device down on the host", func() error { return netlink.LinkSetDown(cali) }, 0, model.Links},
		{"device deleted in the pod", func() error { return h.LinkDel(eth0) }, pod, model.Attachments},
		{"which deletes the host's", func() error { return nil }, 0, model.Links},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			t.Fatalf("%s: %v", s.what, err)
		}
		expect(s.what, s.inode, s.table)
	}
	pin(t, "cni-3")
	wire(t, "/run/netns/cni-3", "cali3", "10.0.0.3/32")
	expect("namespace joined", kernel.Any, model.Attachments)
}

// quiet drops changes until none comes for a while.
func quiet(changes <-chan change) {
	for {
		select {
		case <-changes:
		case <-time.After(300 * time.Millisecond):
			return
		}
	}
}

func TestRootWatchSaysWhatItMissed(t *testing.T) {
	if !alone(t) {
		return
	}
	p := wire(t, pin(t, "cni-1"), "cali1", "10.0.0.1/32")
	changes := make(chan change, 100_000)
	gate := make(chan struct{})
	watch(t, kernel.Options{Buffer: 1}, func(inode uint64, tables ...model.Table) {
		<-gate // busy, while the kernel goes on
		changes <- change{inode, tables}
	})
	for i := range 2000 {
		must(t, netlink.NeighSet(&netlink.Neigh{
			LinkIndex: p.index, IP: net.IPv4(10, 1, byte(i>>8), byte(i)), HardwareAddr: hardware(t, "02:00:00:00:00:01"), State: unix.NUD_PERMANENT,
		}))
	}
	close(gate)
	heard, limit := 0, time.After(5*time.Second)
	for {
		select {
		case c := <-changes:
			heard++
			if c.inode == kernel.Any && len(c.tables) == 7 {
				t.Logf("%d changes heard of 2000, then said that some were missed", heard-1)
				if heard > 1999 {
					t.Error("nothing was missed: this proves nothing")
				}
				// It goes on listening.
				quiet(changes)
				must(t, netlink.RouteDel(&netlink.Route{Dst: cidr(t, "10.0.0.1/32"), LinkIndex: p.index, Scope: netlink.SCOPE_LINK}))
				select {
				case <-changes:
				case <-time.After(30 * time.Second):
					t.Error("deaf after an overrun")
				}
				return
			}
		case <-limit:
			t.Fatalf("%d changes heard of 2000, and not a word about the others", heard)
		}
	}
}
