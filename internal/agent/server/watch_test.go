package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// A random node: pods come and go, ways to other nodes too, fields change by themselves, tables cannot
// be read for a while.
type randomNode struct {
	*rand.Rand
	f *model.NodeState
}

func (n *randomNode) pod(i int) {
	ip := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
	p, id, inode := netip.PrefixFrom(ip, 32), fmt.Sprintf("%064x", i), uint64(1000+i)
	n.f.Links = append(n.f.Links, model.Link{Index: 100 + i, Name: fmt.Sprint("cali", i), Kind: "veth", Up: n.IntN(4) > 0})
	n.f.Routes = append(n.f.Routes, model.Route{Dst: p, Link: 100 + i, Table: 254, Scope: "link", Protocol: 3 + n.IntN(2)})
	n.f.Neighbours = append(n.f.Neighbours, model.Neighbour{IP: ip, Link: 100 + i, State: []string{"STALE", "REACHABLE", "FAILED"}[n.IntN(3)]})
	n.f.Attachments = append(n.f.Attachments, model.Attachment{Inode: inode, Index: 3, Device: "eth0", Peer: 100 + i, IPs: []netip.Prefix{p}, PIDs: n.IntN(5)})
	if n.IntN(5) > 0 {
		n.f.Sandboxes = append(n.f.Sandboxes, model.Sandbox{ID: id, Namespace: "shop", Pod: fmt.Sprint("web-", i), Ready: true, Inode: inode})
	}
}

func (n *randomNode) change() []model.Coverage {
	first := n.f == nil
	n.f = &model.NodeState{Machines: []model.Machine{{BootID: "b", NodeName: "n1", Uptime: n.Int64N(1e6)}}}
	n.f.Links = append(n.f.Links, model.Link{Index: 2, Name: "vxlan.calico", Kind: "vxlan", Up: true, MTU: 1450})
	for i := range 30 {
		if n.IntN(3) > 0 {
			n.pod(i)
		}
		if n.IntN(4) > 0 { // of some the next hop and the FDB entry come later
			b := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 9, byte(i), 0}), 26)
			way, near := model.Route{Dst: b, Gateway: b.Addr(), Link: 2, Table: 254, Protocol: 80}, model.Neighbour{IP: b.Addr(), Link: 2, MAC: "02:00:00:00:00:01", State: "PERMANENT", FDB: "172.16.0.1"}
			if n.IntN(5) == 0 {
				way.Gateway = netip.Addr{}
			}
			if n.IntN(5) == 0 {
				near.FDB = ""
			}
			n.f.Routes, n.f.Neighbours = append(n.f.Routes, way), append(n.f.Neighbours, near)
		}
	}
	if n.IntN(3) == 0 { // the same key twice
		n.f.Routes = append(n.f.Routes, model.Route{Dst: netip.MustParsePrefix("10.77.0.0/16"), Link: 2, Table: 254}, model.Route{Dst: netip.MustParsePrefix("10.77.0.0/16"), Link: 2, Table: 254, Scope: "link"})
	}
	var seen []model.Coverage
	for _, t := range model.FactTables() {
		c := model.Coverage{Table: t, State: model.Complete}
		switch n.IntN(12) {
		case 0:
			if !first || t != model.Links && t != model.Machines { // before they are read, a watch has no sums
				continue // not read this time
			}
		case 1:
			if t != model.Links && t != model.Machines { // without them tables are not summed up
				c.State, c.Reason = model.Lost, fmt.Sprint("reason ", n.IntN(3))
			}
		}
		seen = append(seen, c)
	}
	return seen
}

// comparable gives the rows as text, without order and times.
func comparable(t *testing.T, s *model.Snapshot) string {
	t.Helper()
	s = &model.Snapshot{Meta: model.Meta{Schema: model.Schema}, NodeState: s.NodeState, Coverage: slices.Clone(s.Coverage)}
	slices.SortFunc(s.Coverage, func(a, b model.Coverage) int { return cmp.Compare(a.Table, b.Table) })
	text, err := (&snapshotio.Case{Snapshot: s}).Text()
	must(t, err)
	lines := strings.Split(string(text), "\n")
	for i, l := range lines {
		if at := strings.Index(l, `"since":"`); at >= 0 {
			end := strings.IndexByte(l[at+9:], '"')
			lines[i] = l[:at] + l[at+9+end:]
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestWatchIsWhatTablesAre: whatever happens on the node and to the connection, what a watch has led to
// is what a request for all tables gives.
func TestWatchIsWhatTablesAre(t *testing.T) {
	t.Parallel()
	s := New(Config{Node: "n1", Log: slog.New(slog.DiscardHandler), Now: now})
	s.store.beat = 50 * time.Millisecond
	srv := httptest.NewServer(s.handler())
	defer srv.Close()
	opened, resumed := 0, 0
	streams := agent.NewStreams()
	streams.Now = now
	streams.Ask = func(_ context.Context, node string) *model.Snapshot { return agent.Silent("asked", node) }
	streams.Open = func(ctx context.Context, _ string, query url.Values) (io.ReadCloser, error) {
		if opened++; query.Has("seq") {
			resumed++
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/"+agent.PathWatch+"?"+query.Encode(), nil)
		must(t, err)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil, err
		}
		return answer.Body, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	streams.Keep(ctx, []string{"n1"})
	n := &randomNode{Rand: rand.New(rand.NewPCG(11, 1))}
	whole := fleet(s.handler())
	whole.Nodes, whole.Now = []string{"n1"}, now
	for round := range 25 {
		for range 1 + n.IntN(5) {
			seen := n.change()
			s.store.put(n.f, seen, now(), now())
			time.Sleep(time.Duration(n.IntN(20)) * time.Millisecond)
		}
		if n.IntN(6) == 0 || round%10 == 9 {
			srv.CloseClientConnections()
		}
		want, got := "", ""
		for end := now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			var b model.Builder
			_, err := whole.Summing().Collect(t.Context(), &b)
			must(t, err)
			said := streams.Snapshot()
			want, got = comparable(t, b.Snapshot()), comparable(t, said)
			if want == got {
				break
			}
			if now().After(end) {
				t.Fatalf("round %d: the watch has\n%s\n\nthe tables are\n%s", round, firstDiff(got, want), firstDiff(want, got))
			}
		}
	}
	t.Logf("%d watches, %d of them went on", opened, resumed)
	if resumed == 0 {
		t.Error("none was resumed: this proves less")
	}
}

func firstDiff(a, b string) string {
	var out []string
	has := map[string]int{}
	for l := range strings.Lines(b) {
		has[l]++
	}
	for l := range strings.Lines(a) {
		if has[l]--; has[l] < 0 {
			out = append(out, l)
		}
	}
	return strings.Join(out[:min(len(out), 8)], "")
}

// Without the machine's row, or the interfaces, nobody knows the ways to other nodes: then routes count as
// not read.
func TestWaysWithoutSums(t *testing.T) {
	t.Parallel()
	for _, without := range []model.Table{model.Machines, model.Links} {
		t.Run(without.String(), func(t *testing.T) { waysWithout(t, without) })
	}
}

func waysWithout(t *testing.T, without model.Table) {
	t.Helper()
	s := New(Config{Node: "n1", Log: slog.New(slog.DiscardHandler), Now: now})
	srv := httptest.NewServer(s.handler())
	defer srv.Close()
	all := rowAge(model.FactTables()...)
	s.store.put(full(), all, now(), now())
	seen := slices.Clone(all)
	for i := range seen {
		if seen[i].Table == without {
			seen[i].State = model.Lost
		}
	}
	s.store.put(full(), seen, now(), now())
	streams := agent.NewStreams()
	streams.Now = now
	streams.Open = func(ctx context.Context, _ string, query url.Values) (io.ReadCloser, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/"+agent.PathWatch+"?"+query.Encode(), nil)
		must(t, err)
		answer, err := http.DefaultClient.Do(r)
		must(t, err)
		return answer.Body, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	streams.Keep(ctx, []string{"n1"})
	for streams.Waiting() > 0 {
		<-streams.Changed()
	}
	for len(streams.Changed()) > 0 {
		<-streams.Changed()
	}
	got := streams.Snapshot()
	for _, c := range got.Coverage {
		lost := c.Table == without || c.Table == model.Routes || c.Table == model.Neighbours
		if c.State.Seen() == lost {
			t.Errorf("%+v", c)
		}
	}
	if f := got.NodeState["n1"]; len(f.Routes) != 0 || len(f.Sandboxes) != 250 {
		t.Errorf("%d routes, %d sandboxes", len(f.Routes), len(f.Sandboxes))
	}
	// Once it can be read again, the same frame has the sums.
	s.store.put(full(), all, now(), now())
	<-streams.Changed()
	got = streams.Snapshot()
	if f := got.NodeState["n1"]; len(f.Routes) != 250 || len(f.Machines) != 1 || !f.Machines[0].Summed {
		t.Errorf("%d routes, machines %+v", len(f.Routes), f.Machines)
	}
}

// A node that tells more and more is not believed any more.
func TestWatchIsBounded(t *testing.T) {
	t.Parallel()
	streams := agent.NewStreams()
	streams.Now = now
	streams.Ask = func(_ context.Context, node string) *model.Snapshot { return agent.Silent("asked", node) }
	frame := agent.Frame{Schema: model.Schema, Node: "n1", Start: "s", Whole: true}
	pad := strings.Repeat("x", 1<<20)
	var sent atomic.Int64
	opened := false
	streams.Open = func(_ context.Context, _ string, _ url.Values) (io.ReadCloser, error) {
		if opened {
			return nil, io.ErrClosedPipe
		}
		opened = true
		r, w := io.Pipe()
		go func() {
			lines := json.NewEncoder(w)
			for i := range 100 {
				row, _ := json.Marshal(model.Link{Index: i, Name: pad})
				frame.Tables = []agent.TableFrame{{Coverage: model.Coverage{Table: model.Links, State: model.Complete}, Keys: []string{fmt.Sprint(i)}, Rows: []json.RawMessage{row}}}
				frame.Seq = uint64(i)
				if lines.Encode(frame) != nil {
					return
				}
				sent.Store(int64(i + 1))
				frame.Whole = false
			}
		}()
		return r, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	streams.Keep(ctx, []string{"n1"})
	for {
		select {
		case <-streams.Changed():
		case <-time.After(3 * time.Minute): // with the race detector on a busy machine it takes half a minute
			t.Fatalf("%d MiB are believed", sent.Load())
		}
		if c := streams.Snapshot().Coverage; len(c) > 0 && strings.Contains(c[0].Reason, "more than any node has") {
			return
		}
	}
}

// Small changes make small frames, and what does not change makes none.
func TestFramesAreSmall(t *testing.T) {
	t.Parallel()
	s := newStore("n1", "v", func(change) {})
	s.put(full(), rowAge(model.FactTables()...), start, start)
	w := &watcher{store: s, sums: true}
	size := func(beat bool) int {
		f, _, err := w.next(start.Add(time.Minute), beat)
		must(t, err)
		b, err := json.Marshal(f)
		must(t, err)
		return len(b)
	}
	first, beat := size(false), size(true)
	f := full()
	f.Links[7].Up = false
	s.put(f, rowAge(model.Links), start, start)
	one := size(false)
	t.Logf("all of 250 pods: %d bytes; nothing: %d; one row: %d", first, beat, one)
	if first < 100_000 || beat > 4000 || one > 1000 {
		t.Errorf("%d, %d, %d", first, beat, one)
	}
	if n := size(false); n > 300 {
		t.Errorf("nothing changed: %d bytes", n)
	}
}

// A frame that does not fit is refused, and nothing of it is believed.
func TestForgedFramesAreRefused(t *testing.T) {
	t.Parallel()
	s := newStore("n1", "v", func(change) {})
	s.put(full(), rowAge(model.FactTables()...), start, start)
	w := &watcher{store: s}
	good, _, err := w.next(start, false)
	must(t, err)
	with := func(change func(*agent.Frame)) agent.Frame {
		f := good
		f.Tables = slices.Clone(good.Tables)
		change(&f)
		return f
	}
	for name, frames := range map[string][]agent.Frame{
		"another node":        {with(func(f *agent.Frame) { f.Node = "n2" })},
		"a newer schema":      {with(func(f *agent.Frame) { f.Schema++ })},
		"an older schema":     {with(func(f *agent.Frame) { f.Schema-- })},
		"changes of nothing":  {with(func(f *agent.Frame) { f.Whole = false })},
		"of another start":    {good, with(func(f *agent.Frame) { f.Whole, f.Start = false, "x" })},
		"back in time":        {good, with(func(f *agent.Frame) { f.Whole, f.Seq = false, 0 })},
		"keys without rows":   {with(func(f *agent.Frame) { f.Tables[0].Keys = f.Tables[0].Keys[1:] })},
		"a table of the API":  {with(func(f *agent.Frame) { f.Tables[0].Coverage.Table = model.Pods })},
		"coverage of another": {with(func(f *agent.Frame) { f.Tables[0].Coverage.Node = "n2" })},
		"a row that is no row": {with(func(f *agent.Frame) {
			f.Tables[0].Rows = slices.Clone(f.Tables[0].Rows)
			f.Tables[0].Rows[0] = json.RawMessage(`[]`)
		})},
	} {
		var lines []byte
		for _, f := range frames {
			b, err := json.Marshal(f)
			must(t, err)
			lines = append(append(lines, b...), '\n')
		}
		streams := agent.NewStreams()
		streams.Now = now
		asked := make(chan struct{}, 10)
		streams.Ask = func(_ context.Context, node string) *model.Snapshot {
			asked <- struct{}{}
			return agent.Silent("asked", node)
		}
		opens := 0
		streams.Open = func(context.Context, string, url.Values) (io.ReadCloser, error) {
			if opens++; opens > 1 {
				return nil, io.ErrClosedPipe
			}
			return io.NopCloser(strings.NewReader(string(lines))), nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		streams.Keep(ctx, []string{"n1"})
		select {
		case <-asked:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: believed", name)
		}
		got := streams.Snapshot()
		is := func() bool { return reflect.DeepEqual(got.Coverage, agent.Silent("asked", "n1").Coverage) }
		for try := 0; !is() && try < 30_000; try++ { // it is kept a moment after it was asked
			got = streams.Snapshot()
			time.Sleep(time.Millisecond)
		}
		if !is() || len(got.NodeState) != 0 {
			t.Errorf("%s: %d nodes, %v", name, len(got.NodeState), got.Coverage[0])
		}
		cancel()
	}
}
