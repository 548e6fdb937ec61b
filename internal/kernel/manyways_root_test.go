//go:build linux

package kernel_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A node of a cluster of 5,000 has a route, a route to the tunnel address, a neighbour entry and an entry
// of the forwarding database for each of the others. They are read in a few times of what a bare dump
// takes, and summed up in a part of that.
func TestRootManyWays(t *testing.T) {
	if !alone(t) {
		return
	}
	const peers = 5000
	must(t, netlink.LinkAdd(&netlink.Vxlan{LinkAttrs: netlink.LinkAttrs{Name: "vxlan.calico", MTU: 1450}, VxlanId: 4096, Port: 4789}))
	tunnel, err := netlink.LinkByName("vxlan.calico")
	must(t, err)
	must(t, netlink.LinkSetUp(tunnel))
	run(t, "ip address add 10.0.0.1/32 dev vxlan.calico")
	var routes, neighbours, fdb strings.Builder
	for n := range peers {
		vtep := net.IPv4(10, byte(1+n>>10), byte(n>>2), byte(n<<6))
		mac := fmt.Sprintf("66:00:00:%02x:%02x:%02x", byte(n>>16), byte(n>>8), byte(n))
		fmt.Fprintf(&routes, "route add %s dev vxlan.calico scope link\nroute add %s/26 via %s dev vxlan.calico onlink\n", vtep, vtep, vtep)
		fmt.Fprintf(&neighbours, "neigh add %s lladdr %s dev vxlan.calico nud permanent\n", vtep, mac)
		fmt.Fprintf(&fdb, "fdb add %s dev vxlan.calico dst 192.168.%d.%d\n", mac, n>>8, n&0xff)
	}
	batch(t, "ip", routes.String())
	batch(t, "ip", neighbours.String())
	batch(t, "bridge", fdb.String())

	read := func() *model.NodeState { return look(t, model.Links, model.Routes, model.Neighbours) }
	read() // warm
	began := observe.Uptime()
	bare, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	must(t, err)
	near, err := netlink.NeighList(tunnel.Attrs().Index, netlink.FAMILY_V4)
	must(t, err)
	dump := observe.Uptime() - began
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began = observe.Uptime()
	f := read()
	took := observe.Uptime() - began
	runtime.GC()
	runtime.ReadMemStats(&after)
	if len(bare) < 2*peers || len(near) != peers || len(f.Routes) < 2*peers || len(f.Neighbours) < peers {
		t.Fatalf("%d routes and %d neighbours, read %d and %d", len(bare), len(near), len(f.Routes), len(f.Neighbours))
	}
	f.Machines = []model.Machine{{NodeName: "n"}}
	began = observe.Uptime()
	f.SumWays(nil)
	summed := observe.Uptime() - began
	kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("bare dump of %d routes and %d neighbours %s; read with the forwarding database %s, kept %d kB; summed in %s", len(bare), len(near), dump, took, kept>>10, summed)
	for try := 0; try < 3 && (took > 10*dump || summed > 2*dump); try++ { // a spell in which others ran
		began = observe.Uptime()
		_, err = netlink.RouteList(nil, netlink.FAMILY_V4)
		must(t, err)
		_, err = netlink.NeighList(tunnel.Attrs().Index, netlink.FAMILY_V4)
		must(t, err)
		dump = observe.Uptime() - began
		began = observe.Uptime()
		again := read()
		took = observe.Uptime() - began
		again.Machines = []model.Machine{{NodeName: "n"}}
		began = observe.Uptime()
		again.SumWays(nil)
		summed = observe.Uptime() - began
	}
	if took > 10*dump || summed > 2*dump {
		t.Errorf("read in %s, summed in %s, a bare dump takes %s", took, summed, dump)
	}
	if kept > 16<<20 {
		t.Errorf("%d MB are kept", kept>>20)
	}
	if left := len(f.Routes) + len(f.Neighbours); left > 20 || len(f.Machines[0].Ways) != 3 || f.Machines[0].Ways[0].Count != peers {
		t.Errorf("%d rows are left, sums %d", left, len(f.Machines[0].Ways))
	}
}

// batch runs many commands at once.
func batch(t *testing.T, program, commands string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "batch")
	must(t, os.WriteFile(file, []byte(commands), 0o600))
	run(t, program+" -batch "+file)
}
