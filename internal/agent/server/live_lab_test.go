//go:build e2e

package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// facts asks the agent for tables.
func facts(t *testing.T, a *asker, tables ...model.Table) *model.NodeState {
	t.Helper()
	q := url.Values{}
	for _, table := range tables {
		q.Add("table", table.String())
	}
	for try := 0; ; try++ {
		s := a.tables(t.Context(), q)
		i := slices.IndexFunc(s.Coverage, func(c model.Coverage) bool { return slices.Contains(tables, c.Table) && !c.State.Seen() })
		if i < 0 {
			return s.NodeState["node1"]
		}
		if c := s.Coverage[i]; try == 5 {
			t.Fatalf("%s: %s %s", c.Table, c.State, c.Reason)
		}
		time.Sleep(time.Second)
	}
}

func (a *asker) tables(ctx context.Context, q url.Values) *model.Snapshot {
	body, err := a.Open(ctx, "node1", agent.PathTables, q)
	if err != nil {
		return agent.Silent(err.Error(), "node1")
	}
	return read(body)
}

// verificationWith: one answer says all that a repair must know of an address.
func verificationWith(t *testing.T, s *stage.Stage, a *asker, pod lab.Pod) {
	ctx := t.Context()
	w, err := a.Verification(ctx, "node1", url.Values{"ip": {pod.Status.PodIP}})
	if err != nil || !w.Complete || w.Quiet() || len(w.Sandboxes) != 1 || w.Sandboxes[0].Pod != "web" || len(w.Attachments) != 1 || len(w.Results) != 1 || w.ConfigName != "node1" || w.BootID == "" {
		t.Errorf("%+v, %v", w, err)
	}
	free, err := a.Verification(ctx, "node1", url.Values{"ip": {"10.244.9.9"}})
	if err != nil || !free.Quiet() {
		t.Errorf("an address that nobody has: %+v, %v", free, err)
	}
	w, err = a.Verification(ctx, "node1", url.Values{"container": {w.Sandboxes[0].ID}})
	if err != nil || len(w.Sandboxes) != 1 || len(w.Attachments) != 1 || w.Quiet() {
		t.Errorf("by its container: %+v, %v", w, err)
	}
	making(t, s, a)
}

// making: a sandbox in the making is in no list of the runtime's, but its CNI call is seen.
func making(t *testing.T, s *stage.Stage, a *asker) {
	ctx := t.Context()
	n, err := s.Node(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Exec(ctx, "ip", "netns", "add", "unborn"); err != nil { // without one the plugin ends at once
		t.Fatal(err)
	}
	defer func() { _, _ = n.Exec(context.WithoutCancel(ctx), "ip", "netns", "delete", "unborn") }()
	if err := s.FreezeAPIServer(ctx); err != nil { // the plugin waits for it
		t.Fatal(err)
	}
	call, cancel := context.WithTimeout(ctx, 20*time.Second)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = n.CNI(call, lab.CNICall{Command: "ADD", ContainerID: strings.Repeat("ab", 32), NetNS: "/run/netns/unborn", Namespace: "default", Pod: "unborn"})
	}()
	err = lab.Eventually(ctx, 10*time.Second, func(ctx context.Context) error {
		w, err := a.Verification(ctx, "node1", url.Values{"ip": {"10.244.9.9"}})
		if err != nil {
			return err
		}
		return stage.Expect(!w.Quiet() && len(w.Calls) > 0 && w.Calls[0].CNI == strings.Repeat("ab", 32), "a call under way, got %+v", w)
	})
	cancel()
	<-done
	if thaw := s.ThawAPIServer(context.WithoutCancel(ctx)); err != nil || thaw != nil {
		t.Errorf("%v, %v", err, thaw)
	}
}

// frozen: a runtime that is stopped takes its own tables away and nothing else; answers
// come at once.
func frozen(t *testing.T, s *stage.Stage, a *asker) {
	ctx := t.Context()
	n, err := s.Node(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Freeze(ctx, lab.Containerd); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Thaw(context.WithoutCancel(ctx), lab.Containerd); err != nil {
			t.Fatal(err)
		}
		err := lab.Eventually(context.WithoutCancel(ctx), 60*time.Second, func(ctx context.Context) error {
			snap := a.tables(ctx, nil)
			return stage.Expect(len(unseen(snap)) == 0, "all to be seen again, not %v", unseen(snap))
		})
		if err != nil {
			t.Error(err)
		}
	}()
	var slowest time.Duration
	err = lab.Eventually(ctx, 20*time.Second, func(ctx context.Context) error {
		began := time.Now()
		snap := a.tables(ctx, url.Values{"fresh": {"1"}})
		slowest = max(slowest, time.Since(began))
		f := snap.NodeState["node1"]
		if f == nil || !slices.Equal(unseen(snap), []string{"containers", "sandboxes"}) {
			return fmt.Errorf("not seen %v: %v", unseen(snap), snap.Coverage[0])
		}
		for _, r := range f.Runtimes {
			if r.Error == "" {
				return fmt.Errorf("%s is said to answer", r.Call)
			}
		}
		return nil
	})
	t.Logf("with a frozen runtime the slowest answer with all other tables read anew took %s", slowest)
	if err != nil || slowest > 10*time.Second { // each late reading is waited for 3 s at most; as long as it hangs is what it must not take
		t.Errorf("%s, %v", slowest, err)
	}
	w, err := a.Verification(ctx, "node1", url.Values{"ip": {"10.244.9.9"}})
	if err != nil || w.Complete || w.Quiet() {
		t.Errorf("a verification without the runtime: %+v, %v", w, err)
	}
}

func unseen(s *model.Snapshot) []string {
	var out []string
	for _, c := range s.Coverage {
		if !c.State.Seen() {
			out = append(out, c.Table.String())
		}
	}
	slices.Sort(out)
	return out
}

// onTheNode: root on the node needs no API server.
func onTheNode(t *testing.T, l *lab.Lab) {
	ctx := t.Context()
	n, err := l.Node(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	const digest = "http://node/v1/digest"
	err = lab.Eventually(ctx, 30*time.Second, func(ctx context.Context) error {
		out, err := n.Exec(ctx, "curl", "-fsS", "--max-time", "5", "--unix-socket", "/run/plumbline/agent.sock", digest)
		var d agent.Digest
		if err == nil {
			err = json.Unmarshal([]byte(out), &d)
		}
		if err != nil {
			return err
		}
		return stage.Expect(d.Node == "node1" && len(d.Not) == 0, "all of node1, got %+v", d)
	})
	if err != nil {
		t.Error(err)
	}
	out, err := n.Exec(ctx, "setpriv", "--reuid=65534", "--clear-groups", "curl", "-fsS", "--max-time", "5", "--unix-socket", "/run/plumbline/agent.sock", digest)
	if err == nil {
		t.Errorf("another than root was answered: %s", out)
	}
}

// remembered: the event log tells what came and what went.
func remembered(t *testing.T, a *asker) {
	t.Helper()
	body, err := a.Open(t.Context(), "node1", agent.PathEvents, url.Values{"about": {"calitest"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = body.Close() }()
	var all []struct{ What, Of string }
	if err := json.NewDecoder(body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, e := range all {
		seen[e.What+" "+e.Of]++
	}
	if seen["new links"] == 0 || seen["gone links"] == 0 {
		t.Errorf("the event log has %v of a device that came and went", seen)
	}
}

// live: what changes on the node is in the next answer.
func live(t *testing.T, s *stage.Stage, a *asker, rounds int) {
	ctx := t.Context()
	n, err := s.Node(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	sb, err := s.Sandbox(ctx, n, "web")
	if err != nil {
		t.Fatal(err)
	}
	dev := stage.Device("default", "web")
	host := func(argv ...string) func() error {
		return func() error { _, err := n.Exec(ctx, argv...); return err }
	}
	inPod := func(argv ...string) func() error {
		return func() error { _, err := stage.InPod(ctx, n, sb, argv...); return err }
	}
	link := func(f *model.NodeState, name string) bool {
		return slices.ContainsFunc(f.Links, func(l model.Link) bool { return l.Name == name })
	}
	near := func(f *model.NodeState) bool {
		return slices.ContainsFunc(f.Neighbours, func(n model.Neighbour) bool { return n.IP.String() == "10.244.99.99" })
	}
	route := func(f *model.NodeState) string {
		for _, r := range f.Routes {
			if r.Dst.String() == "10.244.99.98/32" {
				return r.Type + fmt.Sprint(r.Link != 0)
			}
		}
		return ""
	}
	arp := func(f *model.NodeState, value string) bool {
		return slices.ContainsFunc(f.Sysctls, func(s model.Sysctl) bool { return s.Device == dev && s.Key == "proxy_arp" && s.Value == value })
	}
	has := func(f *model.NodeState) bool {
		return slices.ContainsFunc(f.Attachments, func(a model.Attachment) bool {
			return slices.ContainsFunc(a.IPs, func(p netipPrefix) bool { return p.Addr().String() == "10.244.99.97" })
		})
	}
	var took, bare []time.Duration // bare: the command, and one question that reads the table
	for range rounds {
		for _, c := range []struct {
			table model.Table
			do    func() error
			seen  func(*model.NodeState) bool
		}{
			{model.Links, host("ip", "link", "add", "calitest", "type", "veth", "peer", "name", "calipeer"), func(f *model.NodeState) bool { return link(f, "calitest") }},
			{model.Links, host("ip", "link", "del", "calitest"), func(f *model.NodeState) bool { return !link(f, "calitest") }},
			{model.Routes, host("ip", "route", "add", "10.244.99.98", "dev", dev), func(f *model.NodeState) bool { return route(f) == "true" }},
			{model.Routes, host("ip", "route", "replace", "blackhole", "10.244.99.98"), func(f *model.NodeState) bool { return strings.HasPrefix(route(f), "blackhole") }},
			{model.Routes, host("ip", "route", "del", "blackhole", "10.244.99.98"), func(f *model.NodeState) bool { return route(f) == "" }},
			{model.Neighbours, host("ip", "neigh", "add", "10.244.99.99", "lladdr", "ce:00:8d:99:39:ee", "dev", dev, "nud", "permanent"), near},
			{model.Neighbours, host("ip", "neigh", "del", "10.244.99.99", "dev", dev), func(f *model.NodeState) bool { return !near(f) }},
			{model.Sysctls, host("sysctl", "-qw", "net.ipv4.conf."+dev+".proxy_arp=0"), func(f *model.NodeState) bool { return arp(f, "0") }},
			{model.Sysctls, host("sysctl", "-qw", "net.ipv4.conf."+dev+".proxy_arp=1"), func(f *model.NodeState) bool { return arp(f, "1") }},
			{model.Attachments, inPod("ip", "addr", "add", "10.244.99.97/32", "dev", "eth0"), has},
			{model.Attachments, inPod("ip", "addr", "del", "10.244.99.97/32", "dev", "eth0"), func(f *model.NodeState) bool { return !has(f) }},
		} {
			began := time.Now()
			if err := c.do(); err != nil {
				t.Fatal(err)
			}
			made, asked := time.Since(began), time.Now()
			for !c.seen(facts(t, a, c.table)) {
				if time.Since(began) > 30*time.Second {
					t.Fatalf("%s: not seen after 30 s", c.table)
				}
				asked = time.Now()
			}
			took, bare = append(took, time.Since(began)), append(bare, made+time.Since(asked))
		}
	}
	remembered(t, a)
	slices.Sort(took)
	slices.Sort(bare)
	p50, p99, bare50, bare99 := took[len(took)/2], took[len(took)*99/100], bare[len(bare)/2], bare[len(bare)*99/100]
	t.Logf("%d changes with %d namespaces on the node: seen after p50 %s, p99 %s, the command that makes them included; without waiting p99 %s", len(took), len(facts(t, a, model.Attachments).Attachments), p50.Round(time.Millisecond), p99.Round(time.Millisecond), bare99.Round(time.Millisecond))
	// Three labs may share two cores here: then the command alone takes longer than the limit.
	if usual, limit := max(200*time.Millisecond, 2*bare50), max(200*time.Millisecond, 2*bare99); p50 > usual || p99 > limit {
		t.Errorf("p50 is %s, limit %s; p99 %s, limit %s", p50, usual, p99, limit)
	}
}
