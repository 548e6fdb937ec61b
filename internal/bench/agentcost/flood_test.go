//go:build e2e

package agentcost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/lab/stage"
)

const (
	floodFile  = "/run/flood"
	inFlood    = 20 // changes that must be reported
	catchUp    = 2 * time.Second
	floodRound = 1000 // routes that exist at a time
)

// flood sends more netlink messages than the agent can receive; it must report every
// lasting change soon after.
func (s *lookup) flood(t *testing.T, r *report) {
	t.Helper()
	ctx := t.Context()
	if err := s.node.WriteFile(floodFile, torrent(20)); err != nil {
		t.Fatal(err)
	}
	for _, argv := range []string{"ip link add flood0 type veth peer name flood1", "ip link set flood1 up", "ip link set flood0 up"} {
		if _, err := s.node.Exec(ctx, words(argv)...); err != nil {
			t.Fatal(err)
		}
	}
	wanted := s.marks(t)
	dropped := s.drops(t)
	stop, done, told := make(chan struct{}), make(chan error, 1), 0
	go func() {
		for {
			if _, err := s.node.Exec(ctx, "ip", "-batch", floodFile); err != nil {
				done <- err
				return
			}
			told += 2 * 20 * floodRound
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
		}
	}()
	began, slowest := time.Now(), time.Duration(0)
	for _, m := range wanted {
		if err := m.call(); err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		asked := time.Now()
		if _, err := s.ask.digest(ctx); err != nil {
			t.Errorf("an answer during the flood: %v", err)
		}
		slowest = max(slowest, time.Since(asked))
		time.Sleep(100 * time.Millisecond)
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	lasted := time.Since(began)
	took := s.caughtUp(t, wanted)
	r.add(fmt.Sprintf("flood of %d messages in %s: all %d changes reported after its end", told, lasted.Round(100*time.Millisecond), len(wanted)), short(took),
		fmt.Sprintf("%d messages lost by the agent's sockets; slowest digest meanwhile %s", s.drops(t)-dropped, short(slowest)))
	p := s.process(t)
	r.add("memory after the flood", fmt.Sprintf("RSS %s, peak %s", megabytes(p.RSS), megabytes(p.Peak)), "")
	if took > catchUp {
		t.Errorf("all changes were reported %s after the flood", took)
	}
}

// torrent is a batch for ip that adds and deletes routes, a thousand at a time.
func torrent(rounds int) string {
	var b strings.Builder
	for n := range rounds {
		for _, verb := range []string{"add", "del"} {
			for i := range floodRound {
				fmt.Fprintf(&b, "route %s 10.%d.%d.%d/32 dev flood0\n", verb, 100+n, i/250, i%250)
			}
		}
	}
	return b.String()
}

// marks are lasting changes of three kinds.
func (s *lookup) marks(t *testing.T) []change {
	t.Helper()
	host, pod := s.handles(t)
	dev := stage.Device("default", "web")
	cable := index(t, host, dev)
	own, err := pod.LinkByName("eth0")
	if err != nil {
		t.Fatal(err)
	}
	var out []change
	for i := range inFlood {
		ip := fmt.Sprintf("10.244.98.%d", i)
		switch i % 3 {
		case 0:
			out = append(out, change{ip, model.Neighbours, func() error {
				return host.NeighSet(&netlink.Neigh{LinkIndex: cable, Family: netlink.FAMILY_V4, State: netlink.NUD_PERMANENT, IP: net.ParseIP(ip), HardwareAddr: net.HardwareAddr{0xce, 0, 0, 0, 0, 1}})
			}, nil, func(f *model.NodeState) bool { return neighbour(f, ip) }})
		case 1:
			out = append(out, change{ip, model.Routes, func() error {
				return host.RouteAdd(&netlink.Route{LinkIndex: cable, Dst: ipNet(ip), Scope: netlink.SCOPE_LINK})
			}, nil, func(f *model.NodeState) bool { return hasRoute(f, ip) }})
		default:
			out = append(out, change{ip, model.Attachments, func() error { return pod.AddrAdd(own, &netlink.Addr{IPNet: ipNet(ip)}) }, nil, func(f *model.NodeState) bool { return attached(f, ip) }})
		}
	}
	return out
}

// caughtUp waits until the agent reports all lasting changes and nothing of the flood.
func (s *lookup) caughtUp(t *testing.T, wanted []change) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		var missing []string
		for _, table := range []model.Table{model.Neighbours, model.Routes, model.Attachments} {
			f, err := s.ask.facts(t.Context(), table)
			if errors.Is(err, errUnseen) {
				missing = append(missing, table.String())
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range wanted {
				if w.table == table && !w.seen(f) {
					missing = append(missing, w.name)
				}
			}
			for _, r := range f.Routes {
				if b := r.Dst.Addr().As16(); b[12] == 10 && b[13] >= 100 && b[13] < 120 {
					missing = append(missing, "end of "+r.Dst.String())
				}
			}
		}
		took := time.Since(began)
		if len(missing) == 0 {
			return took
		}
		if took > 90*time.Second {
			t.Fatalf("never reported: %.300s", strings.Join(missing, " "))
		}
	}
}

// drops counts the messages that the kernel could not deliver to the agent's sockets.
func (s *lookup) drops(t *testing.T) int {
	t.Helper()
	dir := s.node.Path(fmt.Sprintf("/proc/%d/fd/", s.process(t).PID))
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]bool{}
	for _, f := range files {
		if to, err := os.Readlink(dir + f.Name()); err == nil {
			own[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	text, err := s.node.Exec(ctx, "cat", "/proc/net/netlink")
	if err != nil {
		t.Fatal(err)
	}
	sum, sockets := 0, 0
	for line := range strings.Lines(text) {
		f := strings.Fields(line) // sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode
		if len(f) != 10 || !own[f[9]] {
			continue
		}
		var n int
		if _, err := fmt.Sscan(f[8], &n); err != nil {
			t.Fatal(err)
		}
		sum, sockets = sum+n, sockets+1
	}
	if sockets == 0 {
		t.Fatalf("the agent has no netlink socket:\n%s", text)
	}
	return sum
}
