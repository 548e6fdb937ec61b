//go:build e2e

package agentcost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plumbline.dev/plumbline/lab"
)

// A cost is what one call takes on average.
type cost struct {
	cpu, wall time.Duration
	rows      int
}

func (c cost) String() string {
	return fmt.Sprintf("%s CPU, %s, %d rows", short(c.cpu), short(c.wall), c.rows)
}

// measure runs f a few times in this process, which does nothing else.
func measure(t *testing.T, n int, f func() (int, error)) cost {
	t.Helper()
	var c cost
	before, began := ownCPU(t), time.Now()
	for range n {
		rows, err := f()
		if err != nil {
			t.Fatal(err)
		}
		c.rows = rows
	}
	c.cpu, c.wall = (ownCPU(t)-before)/time.Duration(n), time.Since(began)/time.Duration(n)
	return c
}

func ownCPU(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// dump reads links, addresses, routes and neighbours of the host and of every pod with
// the netlink library, and returns the number of rows.
func dump(n *lab.Node) (int, error) {
	names, err := os.ReadDir(n.Path("/run/netns"))
	if err != nil {
		return 0, err
	}
	rows, err := dumpOne(n.Path("/proc/1/ns/net"))
	for _, e := range names {
		more, e := dumpOne(n.Path("/run/netns/" + e.Name()))
		rows, err = rows+more, errors.Join(err, e)
	}
	return rows, err
}

func dumpOne(path string) (int, error) {
	h, err := handleAt(path)
	if err != nil {
		return 0, err
	}
	defer h.Close()
	links, e1 := h.LinkList()
	addrs, e2 := h.AddrList(nil, netlink.FAMILY_ALL)
	routes, e3 := h.RouteListFiltered(netlink.FAMILY_ALL, &netlink.Route{}, netlink.RT_FILTER_TABLE)
	near, e4 := h.NeighList(0, netlink.FAMILY_ALL)
	return len(links) + len(addrs) + len(routes) + len(near), errors.Join(e1, e2, e3, e4)
}

// handleAt opens a socket in another namespace.
func handleAt(path string) (*netlink.Handle, error) {
	ns, err := netns.GetFromPath(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = ns.Close() }()
	return netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
}

// lister returns a function that only lists sandboxes and containers.
func lister(t *testing.T, n *lab.Node) func() (int, error) {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///runtime",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", n.CRISocket())
		}),
		grpc.WithAuthority("localhost"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	api := runtime.NewRuntimeServiceClient(conn)
	return func() (int, error) {
		boxes, err := api.ListPodSandbox(t.Context(), &runtime.ListPodSandboxRequest{})
		if err != nil {
			return 0, err
		}
		containers, err := api.ListContainers(t.Context(), &runtime.ListContainersRequest{})
		return len(boxes.GetItems()) + len(containers.GetContainers()), err
	}
}
