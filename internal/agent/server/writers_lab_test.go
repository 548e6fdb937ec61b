//go:build e2e

package server_test

import (
	"context"
	"flag"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

var writerTries = flag.Int("writer-tries", 3, "how often each kind of writer is tried")

// writers: who changed the route to a pod is told rightly, or that it is unknown: Calico's CNI plugin,
// ip, Felix, and the end of the pod's interface.
func writers(t *testing.T, s *stage.Stage, a *asker) {
	ctx := t.Context()
	n, err := s.Node(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CalicoctlApply(ctx, "apiVersion: projectcalico.org/v3\nkind: FelixConfiguration\nmetadata: {name: default}\nspec: {routeRefreshInterval: 1s}\n"); err != nil {
		t.Fatal(err)
	}
	felix, err := n.Exec(ctx, "pgrep", "-f", "calico-node.*-felix|calico-felix")
	t.Logf("Felix has the pid %s, %v", strings.Fields(felix), err)
	type tally struct{ named, unknown int }
	told := map[string]*tally{"CNI": {}, "ip": {}, "Felix": {}, "Felix removes": {}, "end": {}, "pod": {}}
	// last waits for a change after the given number of them, and gives who made it.
	wait := func(ip netip.Addr, after int, what string, limit time.Duration) (who string, count int, err error) {
		err = lab.Eventually(ctx, limit, func(ctx context.Context) error {
			all, err := a.RouteChanges(ctx, "node1", ip)
			if err != nil {
				return err
			}
			for i := after; i < len(all); i++ {
				if all[i].What == what {
					who, count = all[i].Who, i+1
					return nil
				}
			}
			return fmt.Errorf("%s is not told after %d of %v", what, after, all)
		})
		return who, count, err
	}
	last := func(ip netip.Addr, after int, what string) (string, int) {
		t.Helper()
		who, count, err := wait(ip, after, what, 20*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return who, count
	}
	// earlier is how many changes pods had made that had the address before, until a time.
	earlier := func(ip netip.Addr, until time.Time) (n int) {
		all, err := a.RouteChanges(ctx, "node1", ip)
		if err != nil {
			t.Fatal(err)
		}
		for n < len(all) && all[n].At.Before(until) {
			n++
		}
		return n
	}
	count := func(kind, who string, right ...string) {
		t.Helper()
		for _, r := range right {
			if strings.Contains(who, r) {
				told[kind].named++
				return
			}
		}
		if who != "by an unknown process" {
			t.Errorf("%s: told %q", kind, who)
		}
		told[kind].unknown++
	}
	for i := range *writerTries {
		began := time.Now()
		pod, err := s.Run(ctx, stage.PodSpec{Name: fmt.Sprint("routed-", i), Node: "node1"})
		if err != nil {
			t.Fatal(err)
		}
		ip := netip.MustParseAddr(pod.Status.PodIP)
		who, at := last(ip, earlier(ip, began), "new")
		count("CNI", who, "by CNI plugin calico, ADD of sandbox")
		route, err := n.Exec(ctx, "ip", "route", "show", ip.String())
		device := between(route, " dev ")
		if err != nil || device == "" {
			t.Fatalf("%q, %v", route, err)
		}
		removed := at
		for try := 0; ; try++ { // Felix may put it back before it is missed
			if out, err := n.Exec(ctx, "ip", "route", "del", ip.String()); err != nil {
				t.Fatalf("%s, %v", out, err)
			}
			if who, removed, err = wait(ip, at, "gone", 3*time.Second); err == nil {
				break
			}
			if try == 3 {
				t.Fatal(err)
			}
		}
		at = removed
		count("ip", who, "/ip (pid ", "/ip.real (pid ")
		who, at = last(ip, at, "new")
		count("Felix", who, "by Felix (pid ")
		foreign := netip.AddrFrom4([4]byte{10, 99, byte(i / 200), byte(1 + i%200)}) // nothing of Calico's: Felix removes it
		for try := 0; ; try++ {                                                     // Felix may remove it before it is noticed
			if out, err := n.Exec(ctx, "ip", "route", "add", foreign.String(), "dev", device); err != nil {
				t.Fatalf("%s, %v", out, err)
			}
			if who, _, err = wait(foreign, 0, "gone", 5*time.Second); err == nil {
				break
			}
			if try == 3 {
				t.Fatal(err)
			}
		}
		count("Felix removes", who, "by Felix (pid ")
		if i%2 == 0 {
			if out, err := n.Exec(ctx, "ip", "link", "del", device); err != nil {
				t.Fatalf("%s, %v", out, err)
			}
			who, at = last(ip, at, "gone")
			count("end", who, "because interface "+device+" vanished")
		}
		if err := s.Delete(ctx, pod.Metadata.Name); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 { // whoever hears first that the pod is deleted
			who, _ = last(ip, at, "gone")
			count("pod", who, "because interface "+device+" vanished", "by CNI plugin calico, DEL of sandbox", "by Felix (pid ")
		}
	}
	for kind, n := range told {
		t.Logf("%s: %d named, %d unknown", kind, n.named, n.unknown)
	}
	for _, kind := range []string{"Felix", "Felix removes", "end"} {
		if n := told[kind]; n.unknown > max(1, *writerTries/10) {
			t.Errorf("%s: too many are unknown: %+v", kind, *n)
		}
	}
}

// between is the word after a mark.
func between(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	word, _, _ := strings.Cut(rest, " ")
	return strings.TrimSpace(word)
}
