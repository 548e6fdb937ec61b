//go:build e2e

package ui

import (
	"bufio"
	"context"
	"flag"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

var (
	browser = flag.String("browser", "", "the tests of lab/browser, compiled: they look at every page with the incident")
	axe     = flag.String("axe", "", "axe.min.js, for them")
	shots   = flag.String("out", "", "where screenshots go")
)

func TestMain(m *testing.M) { lab.Main(m) }

// TestLive: an incident begins while the UI is open, and its pages have it within five seconds of its confirmation, and of
// its end after a repair by the command line.
func TestLive(t *testing.T) {
	for _, mode := range stage.Both {
		t.Run(string(mode), func(t *testing.T) { live(t, mode) })
	}
}

const behind = 5 * time.Second

func live(t *testing.T, mode lab.Datastore) {
	l := lab.Start(t, lab.Config{Nodes: 2, Datastore: mode})
	product.InstallAgents(t, l)
	bin, state := product.Binary(t), t.TempDir()
	command := func(args ...string) *exec.Cmd { return stage.Command(t.Context(), l, bin, state, args...) }
	u := product.StartUI(t, command("ui", "--settle=5s"))
	began := time.Now()
	if err := u.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	shows := func(what string, within time.Duration, path string, ok func(page string) bool) time.Time {
		t.Helper()
		var last string
		err := lab.Eventually(t.Context(), within, func(ctx context.Context) (err error) {
			last, err = u.Get(ctx, path)
			if err != nil {
				return err
			}
			return stage.Expect(ok(last), "a page with %s", what)
		})
		if err != nil {
			t.Fatalf("%v\n%s", err, last)
		}
		return time.Now()
	}
	shows("a judgement", time.Minute, "", func(p string) bool { return strings.Contains(p, "judged 2") })
	t.Logf("the first judgement is shown %.1f s after the address was opened", time.Since(began).Seconds())

	watched := product.StartUI(t, command("ui", "--settle=5s")) // a browser keeps it open
	lines := follow(t, command("check", "--watch", "--settle=5s"))
	sc := stage.Scenario{Name: "shown", Run: func(ctx context.Context, s *stage.Stage) error {
		pod, err := s.Run(ctx, stage.PodSpec{Name: "freed", Node: "node1"})
		if err != nil {
			return err
		}
		key := "PL1002/" + pod.Status.PodIP
		page := watch(t, watched.First, key)
		if page != nil {
			page.wait(t, "OPEN", "", time.Minute)
		}
		if _, err := s.Calicoctl(ctx, "ipam", "release", "--ip="+pod.Status.PodIP); err != nil {
			return err
		}
		confirmed := lines.wait(t, "+ ", key, 2*time.Minute)
		shown := shows(key, behind, "findings?state=confirmed", func(p string) bool { return strings.Contains(p, key) })
		t.Logf("%s is shown %.1f s after check --watch has confirmed it", key, shown.Sub(confirmed).Seconds())
		page.within(t, "SHOWN", confirmed)
		name := s.Namespace + "/freed"
		for path, want := range map[string]string{
			"finding?name=" + key: "FREE in", "pod?name=" + name: "FREE in", "address?ip=" + pod.Status.PodIP: name, "node?name=node1": name, "find?q=freed": "FREE in",
			"map": "10.244.0.0/16", "map.json": `"cells":"`, "": "PL1002", "repairs": "Repairs", "events?node=node1": "calico",
		} {
			shows(want+" in "+path, behind, path, func(p string) bool { return strings.Contains(p, want) })
		}
		look(t, command)
		out, code, err := stage.Plumbline(ctx, l, bin, state, "plan", key, "--settle=5s", "--save", state+"/plan.yaml")
		if err != nil || code != 0 {
			t.Fatalf("plan: %v, exit code %d\n%s", err, code, out)
		}
		if out, code, err = stage.Plumbline(ctx, l, bin, state, "apply", "-f", state+"/plan.yaml"); err != nil || code != 0 {
			t.Fatalf("apply: %v, exit code %d\n%s", err, code, out)
		}
		gone := lines.wait(t, "- ", key, time.Minute)
		without := shows("no "+key, behind, "findings?state=confirmed", func(p string) bool { return !strings.Contains(p, key) })
		t.Logf("%s is gone %.1f s after check --watch says so", key, without.Sub(gone).Seconds())
		page.within(t, "GONE", gone)
		shows("the plan", behind, "repairs", func(p string) bool { return strings.Contains(p, key) })
		return nil
	}}
	if err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
		t.Fatal(err)
	}
}

// watch lets a browser keep the page of findings open, from before the incident to its end; nil without a browser.
func watch(t *testing.T, first, key string) *followed {
	t.Helper()
	if *browser == "" {
		return nil
	}
	return follow(t, exec.CommandContext(t.Context(), *browser, "-test.run=TestWatching$", "-test.v", "-test.timeout=15m", "-url", first, "-watch", key))
}

// within: the open page said so soon after the time, without being touched.
func (f *followed) within(t *testing.T, says string, since time.Time) {
	t.Helper()
	if f == nil {
		return
	}
	line := f.waitLine(t, says, "", time.Minute)
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(strings.TrimPrefix(line, says)))
	took := at.Sub(since)
	if t.Logf("in a page that is open: %s %.1f s after it", says, took.Seconds()); err != nil || took > behind {
		t.Errorf("%s %s after it: %v", says, took, err)
	}
}

// look lets a browser see every page of a UI of its own: the code of the first one is used.
func look(t *testing.T, command func(...string) *exec.Cmd) {
	t.Helper()
	if *browser == "" {
		return
	}
	u := product.StartUI(t, command("ui", "--settle=5s"))
	out, err := exec.CommandContext(t.Context(), *browser, "-test.run=TestURL$", "-test.v", "-test.timeout=5m", "-url", u.First, "-axe", *axe, "-out", *shots).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// A followed command prints lines.
type followed struct{ lines chan string }

func follow(t *testing.T, cmd *exec.Cmd) *followed {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	f := &followed{lines: make(chan string, 1000)}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			f.lines <- s.Text()
		}
	}()
	return f
}

// wait gives the time of a line.
func (f *followed) wait(t *testing.T, prefix, part string, within time.Duration) time.Time {
	t.Helper()
	f.waitLine(t, prefix, part, within)
	return time.Now()
}

func (f *followed) waitLine(t *testing.T, prefix, part string, within time.Duration) string {
	t.Helper()
	end := time.After(within)
	for {
		select {
		case l := <-f.lines:
			if strings.HasPrefix(l, prefix) && strings.Contains(l, part) {
				return l
			}
		case <-end:
			t.Fatalf("%s%s was not printed within %s", prefix, part, within)
		}
	}
}
