//go:build linux

package kernel_test

import (
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

// TestRootForwarding shows what PL3008 relies on: IPv4 is forwarded by the sysctl of the interface on which a packet arrives, IPv6 by
// that of all interfaces alone, or, from Linux 6.17 on, by force_forwarding of that interface.
func TestRootForwarding(t *testing.T) {
	if !alone(t) {
		return
	}
	a, b := pin(t, "a"), pin(t, "b")
	for _, c := range []string{
		"ip link add vra type veth peer name vea netns a", "ip link add vrb type veth peer name veb netns b",
		"ip addr add fd01::1/64 dev vra nodad", "ip addr add 10.1.0.1/24 dev vra", "ip link set vra up",
		"ip addr add fd02::1/64 dev vrb nodad", "ip addr add 10.2.0.1/24 dev vrb", "ip link set vrb up",
		"ip -n a addr add fd01::2/64 dev vea nodad", "ip -n a addr add 10.1.0.2/24 dev vea", "ip -n a link set vea up",
		"ip -n b addr add fd02::2/64 dev veb nodad", "ip -n b addr add 10.2.0.2/24 dev veb", "ip -n b link set veb up",
		"ip -n a -6 route add default via fd01::1", "ip -n b -6 route add default via fd02::1",
		"ip -n a route add default via 10.1.0.1", "ip -n b route add default via 10.2.0.1",
	} {
		run(t, c)
	}
	echo(t, b, "[fd02::2]:9000")
	echo(t, b, "10.2.0.2:9000")
	set := func(family, device, key, value string) { must(t, setting(family, device, key, value)) }
	set("ipv4", "all", "forwarding", "1")
	set("ipv6", "all", "forwarding", "1")
	six := func(all, each string) {
		set("ipv6", "all", "forwarding", all) // which sets that of each interface too
		set("ipv6", "vra", "forwarding", each)
		set("ipv6", "vrb", "forwarding", each)
	}
	is := func(what, to string, want bool) {
		t.Helper()
		if got := answers(t, a, to, want); got != want {
			t.Errorf("%s: forwards %t", what, got)
		}
	}
	is("everything on, IPv6", "[fd02::2]:9000", true)
	is("everything on, IPv4", "10.2.0.2:9000", true)
	six("1", "0")
	is("IPv6, off on each interface", "[fd02::2]:9000", true)
	six("0", "1")
	is("IPv6, off in all", "[fd02::2]:9000", false)
	if _, err := os.Stat("/proc/sys/net/ipv6/conf/vra/force_forwarding"); err == nil {
		set("ipv6", "vrb", "force_forwarding", "1")
		is("IPv6, forced where the answer arrives", "[fd02::2]:9000", false)
		set("ipv6", "vra", "force_forwarding", "1")
		is("IPv6, forced on both", "[fd02::2]:9000", true)
	}
	set("ipv4", "vra", "forwarding", "0")
	is("IPv4, off where it arrives", "10.2.0.2:9000", false)
	only(t, look(t, model.Sysctls).Sysctls, "the one that decides", func(s *model.Sysctl) bool {
		return s.Device == "all" && s.Key == "forwarding" && s.IPv6 && s.Value == "0"
	})
}

// within runs a function in a network namespace; the sockets that it makes stay there.
func within(t *testing.T, path string, do func() error) {
	t.Helper()
	must(t, lost(func() error {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
			return err
		}
		return do()
	}))
}

// echo answers UDP packets in a namespace.
func echo(t *testing.T, path, at string) {
	t.Helper()
	within(t, path, func() error {
		c, err := net.ListenPacket("udp", at) //nolint:noctx // a socket of a test
		if err != nil {
			return err
		}
		t.Cleanup(func() { _ = c.Close() })
		go func() {
			b := make([]byte, 16)
			for {
				n, from, err := c.ReadFrom(b)
				if err != nil {
					return
				}
				_, _ = c.WriteTo(b[:n], from)
			}
		}()
		return nil
	})
}

// answers sends packets from a namespace until one is answered, or, if none is expected, for a second.
func answers(t *testing.T, path, to string, expected bool) (yes bool) {
	t.Helper()
	within(t, path, func() error {
		c, err := net.Dial("udp", to) //nolint:noctx // likewise
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		tries := 4
		if expected {
			tries = 80
		}
		for range tries {
			_ = c.SetDeadline(time.Now().Add(250 * time.Millisecond)) //nolint:forbidigo // of the socket
			if _, err := c.Write([]byte("x")); err == nil {
				if _, err := c.Read(make([]byte, 16)); err == nil {
					yes = true
					return nil
				}
			}
		}
		return nil
	})
	return yes
}
