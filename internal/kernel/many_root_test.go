//go:build linux

package kernel_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/kernel/podns"
	"plumbline.dev/plumbline/internal/model"
)

// TestRootManyNamespaces measures a node with 250 pods beside the bare library on the host alone.
func TestRootManyNamespaces(t *testing.T) {
	if !alone(t) {
		return
	}
	const pods = 250
	for i := range pods {
		wire(t, pin(t, fmt.Sprint("cni-", i)), fmt.Sprint("cali", i), fmt.Sprintf("10.0.%d.%d/32", i/250, i%250+1))
	}
	f := look(t)
	if len(f.Attachments) != pods || len(f.Paths) != pods+1 || len(f.Links) != pods+1 || everywhere(f.Sysctls) != 6*(pods+1) {
		t.Errorf("%d attachments, %d paths, %d links, %d settings", len(f.Attachments), len(f.Paths), len(f.Links), len(f.Sysctls))
	}
	for _, l := range f.Links {
		if l.Kind == "veth" && l.PeerNS == 0 {
			t.Errorf("where is the other end? %+v", l)
		}
	}
	for _, a := range f.Attachments {
		if len(a.IPs) != 1 || len(a.Routes) != 2 || len(a.Neighbours) != 1 {
			t.Errorf("%+v", a)
		}
	}
	t.Logf("library, host only:   %s", median(t, func() error { return bare(nil) }))
	t.Logf("library, everything:  %s", median(t, func() error {
		for i := range pods {
			h := inside(t, fmt.Sprint("/run/netns/cni-", i))
			err := bare(h)
			h.Close()
			if err != nil {
				return err
			}
		}
		return nil
	}))
	for _, s := range kernel.Collectors(kernel.Options{}) {
		t.Logf("sense %-14s %s", s.Name+":", median(t, func() error { return s.Read(t.Context(), &model.NodeState{}) }))
	}
	t.Logf("enumerate:            %s", median(t, func() error { _, err := podns.Namespaces(t.Context(), "/proc", "/"); return err }))
	t.Logf("all senses at once:   %s", median(t, func() error { look(t); return nil }))
}

// bare dumps devices, addresses, routes and neighbours with the library.
func bare(h *netlink.Handle) error {
	if h == nil {
		var err error
		if h, err = netlink.NewHandle(unix.NETLINK_ROUTE); err != nil {
			return err
		}
		defer h.Close()
	}
	_, e1 := h.LinkList()
	_, e2 := h.AddrList(nil, netlink.FAMILY_ALL)
	_, e3 := h.RouteListFiltered(netlink.FAMILY_ALL, &netlink.Route{}, netlink.RT_FILTER_TABLE)
	_, e4 := h.NeighList(0, netlink.FAMILY_ALL)
	return errors.Join(e1, e2, e3, e4)
}

// median gives the median of nine runs.
func median(t *testing.T, f func() error) time.Duration {
	t.Helper()
	var took []time.Duration
	for range 9 {
		t0 := time.Now() //nolint:forbidigo // a measurement
		must(t, f())
		took = append(took, time.Since(t0))
	}
	slices.Sort(took)
	return took[len(took)/2].Round(10 * time.Microsecond)
}
