package lab

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
)

const bridge = "lab0"

// createBridge creates the bridge to which every node is connected. The control plane
// has an address on it; no route leads out of it.
func createBridge(ctx context.Context) error {
	return ip(ctx, nil,
		"link add "+bridge+" type bridge",
		fmt.Sprintf("addr add %s/24 dev %s", controlPlane4, bridge),
		fmt.Sprintf("addr add %s/64 dev %s nodad", controlPlane6, bridge),
		"link set "+bridge+" up",
	)
}

// connect gives a node its eth0. The default route is needed although it leads nowhere:
// without one the kernel does not answer a pod's ARP for 169.254.1.1.
func (l *Lab) connect(ctx context.Context, n *Node) error {
	port := "port" + strconv.Itoa(n.Index)
	// The interface of an earlier node stays until the kernel has removed that node's
	// namespace.
	_ = ip(ctx, nil, "link del "+port)
	err := ip(ctx, nil,
		fmt.Sprintf("link add %s type veth peer name eth0 netns %d", port, n.PID),
		fmt.Sprintf("link set %s master %s up", port, bridge),
	)
	if err != nil {
		return err
	}
	in := []string{"nsenter", "-t", strconv.Itoa(n.PID), "-n"}
	cmds := []string{"link set eth0 up", fmt.Sprintf("addr add %s/24 dev eth0", n.Addr()), fmt.Sprintf("route add default via %s", controlPlane4)}
	forward := []string{"net.ipv4.ip_forward=1"}
	if l.DualStack {
		cmds = append(cmds, fmt.Sprintf("addr add %s/64 dev eth0 nodad", nodeAddr6(n.Index)), fmt.Sprintf("-6 route add default via %s", controlPlane6))
		forward = append(forward, "net.ipv6.conf.all.forwarding=1")
	}
	if err := ip(ctx, in, cmds...); err != nil {
		return err
	}
	_, err = output(exec.CommandContext(ctx, in[0], append(in[1:], append([]string{"sysctl", "-qw"}, forward...)...)...))
	return err
}

// ip runs iproute2 commands, in another network namespace if a prefix is given.
func ip(ctx context.Context, prefix []string, cmds ...string) error {
	for _, c := range cmds {
		argv := append(append(append([]string{}, prefix...), "ip"), strings.Fields(c)...)
		if _, err := output(exec.CommandContext(ctx, argv[0], argv[1:]...)); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) addresses() []netip.Addr {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1"), n.Addr()}
}
