//go:build linux

package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// TestRootChurn: while devices, routes and namespaces come and go, what stays is in every
// answer that calls itself complete.
func TestRootChurn(t *testing.T) {
	if !alone(t) {
		return
	}
	const stay = 60
	for i := range stay {
		wire(t, pin(t, fmt.Sprint("cni-", i)), fmt.Sprint("cali", i), fmt.Sprintf("10.0.0.%d/32", i+1))
	}
	type answer struct {
		states map[model.State]int
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		states, err := readFor(t.Context(), 3*time.Second, stay)
		done <- answer{states, err}
	}()
	for n := 0; ; n++ {
		select {
		case a := <-done:
			must(t, a.err)
			t.Logf("%d namespaces came and went; answers by state: %v", n, a.states)
			return
		default:
		}
		path := pin(t, "come")
		p := wire(t, path, "calicome", "10.0.1.1/32")
		dst := &net.IPNet{IP: net.IPv4(10, 0, 2, byte(n)), Mask: net.CIDRMask(32, 32)}
		must(t, netlink.RouteReplace(&netlink.Route{Dst: dst, Type: unix.RTN_BLACKHOLE}))
		must(t, netlink.LinkDel(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "calicome", Index: p.index}}))
		unpin(t, path)
	}
}

// readFor reads for a while, counts the states of the answers, and stops at one that is wrong.
func readFor(ctx context.Context, d time.Duration, stay int) (map[model.State]int, error) {
	body := &observe.NodeReader{Node: "n", Within: 10 * time.Second, Collectors: kernel.Collectors(kernel.Options{})}
	states := map[model.State]int{}
	for end := time.Now().Add(d); time.Now().Before(end); { //nolint:forbidigo // the test lasts as long
		f, coverage := body.Read(ctx)
		complete := map[model.Table]bool{}
		for _, c := range coverage {
			states[c.State]++
			complete[c.Table] = c.State == model.Complete
			if c.State != model.Complete && c.State != model.Partial {
				return states, fmt.Errorf("%s: %s", c.Table, c.Reason)
			}
		}
		if err := missing(f, complete, stay); err != nil {
			return states, err
		}
	}
	return states, nil
}

func missing(f *model.NodeState, complete map[model.Table]bool, stay int) error {
	links, routes, rooms, paths := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, l := range f.Links {
		links[l.Name] = l.PeerNS != 0
	}
	for _, r := range f.Routes {
		routes[r.Dst.Addr().String()] = r.Link != 0
	}
	for _, a := range f.Attachments {
		rooms[a.NetNS] = len(a.IPs) == 1 && len(a.Routes) == 2 && a.PeerNS != 0
	}
	for _, p := range f.Paths {
		paths[p.IP.String()] = p.Link != 0 && p.Error == ""
	}
	var errs []error
	for i := range stay {
		ip := fmt.Sprintf("10.0.0.%d", i+1)
		if complete[model.Links] && !links[fmt.Sprint("cali", i)] ||
			complete[model.Routes] && !routes[ip] ||
			complete[model.Attachments] && !rooms[fmt.Sprint("/run/netns/cni-", i)] ||
			complete[model.Paths] && !paths[ip] {
			errs = append(errs, fmt.Errorf("pod %d is missing", i))
		}
	}
	return errors.Join(errs...)
}
