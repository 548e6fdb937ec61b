package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cli/term/termtest"
	"plumbline.dev/plumbline/internal/cli/timeline"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/plain"
)

const (
	oldBox = "41857f70aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	newBox = "247d3c78bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

var callDigits = regexp.MustCompile(`w30:[0-9a-f]{6}`)

var tenOClock = time.Date(2026, 11, 15, 10, 27, 42, 0, time.Local)

func reports() map[string]*guard.Report {
	quiet := func(mode guard.Mode) guard.Report {
		return guard.Report{
			At: tenOClock, Wanted: mode, Mode: mode, Delegate: "calico", Version: "v3.31.0", Keyed: guard.ByBoth, State: "patched", File: "/etc/cni/net.d/10-calico.conflist",
			Tally: guard.Tally{Dels: guard.Times{Count: 90, P50: 180, P99: 420}, Adds: guard.Times{Count: 90, P50: 300, P99: 900}},
		}
	}
	w3, w17, w20, w21, w30, w5 := quiet(guard.Enforce), quiet(guard.Observe), quiet(guard.Enforce), quiet(guard.Observe), quiet(guard.Enforce), quiet(guard.Observe)
	w3.Keyed, w3.Late = guard.ByContainer, 2
	w17.Version, w17.Keyed, w17.Late, w17.Lost, w17.Dels.P99 = "v1.5.0", guard.ByName, 5, 1, 90_000
	w17.Endless = []guard.Endless{{Namespace: "lijiaob", Pod: "etcd1-0", Count: 412, Since: tenOClock.Add(-time.Hour)}}
	w20.Mode, w20.Why = guard.Observe, "the runtime did not load it: \x1b[31mred"
	w21.At = tenOClock.Add(-20 * time.Minute)
	w30.Version, w30.Doubt = "", guard.Doubt("calico", "calico-ipam", "")
	w30.Late, w30.Stopped, w30.Queue, w30.Waiting, w30.Open = 3, 3, 1, "the name has a newer owner", 2
	off, bad := quiet(guard.Off), quiet(guard.Observe)
	off.Mode, off.Named, bad.Mode, bad.Why = "", 3, "", "Calico's entry is not in it"
	return map[string]*guard.Report{"w60": &off, "w61": &bad, "w3": &w3, "w17": &w17, "w20": &w20, "w21-with-a-very-long-name.example.net": &w21, "w30": &w30, "w44": nil, "w5": &w5, "w6": &w5, "w7": &w5}
}

func sawCalls(node string) []eventlog.Entry {
	if node != "w30" {
		return nil
	}
	at := tenOClock
	entry := func(verb guard.Verb, box string, change func(*guard.Event)) eventlog.Entry {
		e := guard.Event{Key: guard.Key{Network: "k8s-pod-network", Container: box, IfName: "eth0"}, Namespace: "shop", Pod: "db-0", Delegate: "calico", Mode: guard.Enforce, Rule: 4, Called: true, Took: 180}
		change(&e)
		row, _ := json.Marshal(&e)
		at = at.Add(10 * time.Second)
		return eventlog.Entry{At: at, By: "guard", Of: "cni", What: string(verb), Name: e.Subject(), Now: row, Note: e.Note()}
	}
	refused := func(e *guard.Event) {
		e.Code, e.Error, e.Took = 1, "error getting ClusterInformation: connection is unauthorized \x1b[2J", 90_000
	}
	return []eventlog.Entry{
		entry(guard.Del, oldBox, refused),
		entry(guard.Del, oldBox, refused),
		entry(guard.Add, newBox, func(e *guard.Event) {
			e.Rule, e.IPs, e.Device = 1, []netip.Prefix{netip.MustParsePrefix("10.244.8.34/32")}, "cali91dded39638"
		}),
		entry(guard.Del, oldBox, func(e *guard.Event) {
			e.Rule, e.Late, e.Called, e.Keyed, e.Says = 5, true, false, guard.ByBoth, "late: it belongs to ADD 1, and "+newBox+" owns the pod name since ADD 2"
			e.Did = []string{guard.DidQueue, "deleted eth0 in the network namespace of the old sandbox", guard.DidRelease}
		}),
		entry(guard.Add, newBox, func(e *guard.Event) { e.Namespace, e.Pod, e.Rule = "shop", "db-01", 1 }),
	}
}

// agentsPost are agents that a test plays.
type agentsPost struct {
	fleet *agent.Fleet
	nodes []string
	none  map[string]error
}

func (p *agentsPost) Status(ctx context.Context) (all []cluster.GuardStatus, unread map[string]error) {
	said, unread := p.fleet.Guards(ctx, p.nodes)
	maps.Copy(unread, p.none)
	for _, n := range slices.Sorted(maps.Keys(said)) {
		all = append(all, said[n])
	}
	return all, unread
}

func (p *agentsPost) Calls(ctx context.Context, q cluster.CallQuestion) (map[string][]cluster.GuardCall, map[string]error) {
	all, unread := p.fleet.GuardCalls(ctx, p.nodes, q)
	maps.Copy(unread, p.none)
	return all, unread
}

func (*agentsPost) Off(context.Context) (string, error) {
	return "plumbline-system/plumbline-guard", nil
}

// InConfigs says of w50 to w59 that they name the guard.
func (*agentsPost) InConfigs(_ context.Context, nodes []string) map[string]error {
	out := map[string]error{}
	for _, n := range nodes {
		if strings.HasPrefix(n, "w5") {
			out[n] = errors.New("the CNI configuration names the guard, and the guard daemon has not reported")
		}
	}
	return out
}

func (p *agentsPost) guards() (g guards) {
	g.said, g.unread = p.Status(context.Background())
	return g
}

// post is a fleet of agents that a test plays.
func post() *agentsPost {
	all := reports()
	p := &agentsPost{none: map[string]error{"w50": errors.New("no agent runs there")}, fleet: &agent.Fleet{
		Open: func(_ context.Context, node, path string, _ url.Values) (io.ReadCloser, error) {
			var v any = sawCalls(node)
			switch {
			case node == "w8":
				return nil, errors.New("refused \x1b[31m")
			case node == "w9" && path == agent.PathGuard:
				return nil, errors.New("ask the agent of w9: not there: 404 page not found")
			case path == agent.PathGuard:
				v = agent.GuardStatus{Node: node, Taken: tenOClock.Add(time.Second), Report: all[node]}
			}
			b, err := json.Marshal(v)
			return io.NopCloser(bytes.NewReader(b)), err
		},
	}}
	p.nodes = append(slices.Sorted(maps.Keys(all)), "w8", "w9")
	return p
}

// TestGuardScreens keeps what a person sees of guards.
func TestGuardScreens(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	pod := callsQuestion{about: "shop/db-0", namespace: "shop", pod: "db-0"}
	for name, show := range map[string]func(sess *term.Session) error{
		"guard-status": func(sess *term.Session) error { return showGuards(sess, post().guards(), flags{output: "text"}) },
		"guard-status-all": func(sess *term.Session) error {
			return showGuards(sess, post().guards(), flags{output: "text", all: true})
		},
		"guard-none": func(sess *term.Session) error {
			p := post()
			p.nodes, p.none = []string{"w44"}, nil
			return showGuards(sess, p.guards(), flags{output: "text"})
		},
		"guard-quiet": func(sess *term.Session) error {
			p := post()
			p.nodes, p.none = []string{"w5", "w6"}, nil
			return showGuards(sess, p.guards(), flags{output: "text"})
		},
		"guard-uninstall": func(sess *term.Session) error {
			p := post()
			p.nodes, p.none = []string{"w21-with-a-very-long-name.example.net", "w44", "w5", "w51", "w60", "w8"}, nil
			return uninstall(ctx, sess, p, time.Millisecond, time.Millisecond)
		},
		"guard-log":     func(sess *term.Session) error { return showCalls(sess, callsOf(ctx, post(), callsQuestion{}), "text") },
		"guard-explain": func(sess *term.Session) error { return explainCalls(sess, callsOf(ctx, post(), pod), "text") },
		"guard-line": func(sess *term.Session) error {
			_, err := fmt.Fprintln(sess.Stdout, plain.Line(Summary(post().Status(ctx)))[:80]+"\n"+Summary([]agent.GuardStatus{{}}, nil)+"\n"+Summary(nil, nil))
			return err
		},
	} {
		var code error
		got := termtest.Shown(t, func(sess *term.Session) { code = show(sess) })
		want := error(term.ExitGaps)
		switch name {
		case "guard-none", "guard-quiet", "guard-line":
			want = nil
		case "guard-status", "guard-status-all":
			want = term.ExitFindings
		}
		if !errors.Is(code, want) {
			t.Errorf("%s: %v", name, code)
		}
		got = callDigits.ReplaceAllString(got, "w30:3fa2c1") // they are made of the time, and that of the zone
		termtest.Screen(t, name, got)
	}
}

// Machine output is what its schema says, has IDs whole, and is the same at every run.
func TestGuardDocuments(t *testing.T) {
	t.Parallel()
	for kind, show := range map[string]func(sess *term.Session, p *agentsPost) error{
		"GuardStatus": func(sess *term.Session, p *agentsPost) error {
			return showGuards(sess, p.guards(), flags{output: "json"})
		},
		"GuardLog": func(sess *term.Session, p *agentsPost) error {
			return showCalls(sess, callsOf(t.Context(), p, callsQuestion{}), "json")
		},
		"GuardExplanation": func(sess *term.Session, p *agentsPost) error {
			return explainCalls(sess, callsOf(t.Context(), p, callsQuestion{container: oldBox[:8]}), "json")
		},
	} {
		once := func() string {
			return termtest.Conforms(t, kind, func(sess *term.Session) {
				want := term.ExitGaps
				if kind == "GuardStatus" {
					want = term.ExitFindings
				}
				if err := show(sess, post()); !errors.Is(err, want) {
					t.Errorf("%s: %v", kind, err)
				}
			})
		}
		got := once()
		if got != once() || kind != "GuardStatus" && !strings.Contains(got, oldBox) || strings.ContainsRune(got, 0x1b) {
			t.Errorf("%s:\n%s", kind, got)
		}
	}
}

// -o name prints nodes as --node takes them, and calls as guard explain does.
func TestGuardNames(t *testing.T) {
	t.Parallel()
	names := func(show func(*term.Session) error, want term.Exit) []string {
		return strings.Fields(termtest.Shown(t, func(sess *term.Session) {
			if err := show(sess); !errors.Is(err, want) {
				t.Error(err)
			}
		}))
	}
	p := post()
	nodes := names(func(sess *term.Session) error { return showGuards(sess, p.guards(), flags{output: "name"}) }, term.ExitFindings)
	if said := p.guards().said; len(nodes) != len(said) || nodes[0] != said[0].Node {
		t.Errorf("%q", nodes)
	}
	for _, call := range names(func(sess *term.Session) error {
		return showCalls(sess, callsOf(t.Context(), p, callsQuestion{}), "name")
	}, term.ExitGaps) {
		if !callOK.MatchString(call) {
			t.Errorf("%q is not what guard explain takes", call)
		}
	}
}

// A name is a pod, a container or a call; and a call that guard log names is found again.
func TestGuardExplainNames(t *testing.T) {
	t.Parallel()
	sess := &term.Session{Env: term.Env{Getenv: func(string) string { return "" }}}
	for name, want := range map[string]callsQuestion{
		"shop/db-0":        {namespace: "shop", pod: "db-0"},
		"PL2001/shop/db-0": {namespace: "shop", pod: "db-0"},
		oldBox[:8]:         {container: oldBox[:8]},
		"w30:3fa2c1":       {node: "w30", call: "w30:3fa2c1"},
	} {
		q, err := explained(sess, name, flags{output: "text"})
		if q.about = ""; err != nil || q != want {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
	}
	if q, err := explained(sess, oldBox[:8], flags{output: "text", namespace: "shop"}); err != nil || q.pod != oldBox[:8] {
		t.Errorf("with a namespace it is a pod: %+v, %v", q, err)
	}
	for _, bad := range []string{"", "/", "shop/", "a/b/c"} {
		if q, err := explained(sess, bad, flags{output: "text"}); err == nil {
			t.Errorf("%q: %+v", bad, q)
		}
	}
	calls := callsOf(t.Context(), post(), callsQuestion{}).calls
	if len(calls) != 5 {
		t.Fatalf("%d calls", len(calls))
	}
	for _, c := range calls {
		if again := callsOf(t.Context(), post(), callsQuestion{call: c.Name}).calls; len(again) != 1 || again[0].At != c.At {
			t.Errorf("%s: %v", c.Name, again)
		}
	}
	err := explainCalls(sess, saidCalls{q: callsQuestion{about: "x/y"}}, "text")
	if !errors.Is(err, errNoCall) {
		t.Error(err)
	}
}

// Following tells each call once, and who is silent once.
func TestGuardFollow(t *testing.T) {
	t.Parallel()
	var out, diag bytes.Buffer
	sess := &term.Session{Env: term.Env{Stdout: &out, Stderr: &diag, Columns: 80}}
	ctx, cancel := context.WithTimeout(t.Context(), callGlance+callGlance/2)
	defer cancel()
	if err := followCalls(ctx, sess, post(), callsQuestion{namespace: "shop", pod: "db-0"}); err != nil {
		t.Error(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 4 || strings.ContainsRune(out.String()+diag.String(), 0x1b) {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
	if n := strings.Count(diag.String(), "w8"); n != 1 {
		t.Errorf("silent:\n%s", diag.String())
	}
}

// A late DEL that the guard stopped is in the timeline as that, and nothing was destroyed.
func TestTimelineTellsTheGuard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := eventlog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Append(sawCalls("w30")...), r.Close()); err != nil {
		t.Fatal(err)
	}
	got := termtest.Shown(t, func(sess *term.Session) {
		c := timeline.Command(sess)
		c.SetArgs([]string{"pod", "shop/db-0", "--logs", dir})
		if err := c.ExecuteContext(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if !strings.Contains(got, "stopped by") || strings.Contains(got, "removed the") || strings.Contains(got, "late DEL:") {
		t.Errorf("\n%s", got)
	}
}

// uninstall waits until no node's CNI configuration names the guard, and no longer.
func TestUninstall(t *testing.T) {
	t.Parallel()
	off, cleared := guard.Report{At: tenOClock, Wanted: guard.Off, Mode: guard.Off, State: "patched", Program: "/opt/cni/bin/plumbline-cni"}, guard.Report{At: tenOClock, Wanted: guard.Off, State: "plain"}
	asked := 0
	p := &agentsPost{nodes: []string{"w1"}, fleet: &agent.Fleet{Open: func(_ context.Context, node, _ string, _ url.Values) (io.ReadCloser, error) {
		asked++
		r := &off
		if asked > 3 {
			r = &cleared
		}
		b, err := json.Marshal(agent.GuardStatus{Node: node, Taken: tenOClock.Add(time.Second), Report: r})
		return io.NopCloser(bytes.NewReader(b)), err
	}}}
	var code error
	got := termtest.Shown(t, func(sess *term.Session) { code = uninstall(t.Context(), sess, p, time.Minute, time.Millisecond) })
	if code != nil || asked != 4 || !strings.Contains(got, "1 node: no CNI configuration names the guard.") || !strings.Contains(got, "guard.enabled=false") {
		t.Errorf("asked %d times, %v\n%s", asked, code, got)
	}
}
