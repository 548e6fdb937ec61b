//go:build e2e

package guard

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

var (
	modes    = flag.String("modes", "enforce", "comma-separated modes of the guard: observe, enforce")
	runtimes = flag.String("runtimes", lab.ContainerdDebian, "comma-separated versions of containerd: debian, 2.2")
	keep     = flag.Duration("keep", 0, "how long to keep the cluster after a failure")
)

func TestMain(m *testing.M) { lab.Main(m) }

// A report has the fields of a guard daemon's report that are used here.
type report struct {
	At                                                         time.Time
	Wanted, Mode, Why, State, Version, Keyed, Waiting, Program string
	Put, Late, Stopped, Lost, Open, Queue, Named, Adopted      int
	Adds, Dels                                                 struct{ Count, Failed int }
}

// start returns a cluster whose nodes have the guard, in a mode.
func start(t *testing.T, c lab.Config, mode string) *lab.Lab {
	t.Helper()
	l := lab.Start(t, c)
	t.Cleanup(func() {
		if t.Failed() {
			time.Sleep(*keep)
		}
	})
	product.InstallGuard(t, l)
	inForce(t, l, "observe")
	if mode != "observe" {
		switchTo(t, l, mode)
	}
	return l
}

// switchTo patches the ConfigMap, as a person would, and waits until the mode is in
// force.
func switchTo(t *testing.T, l *lab.Lab, mode string) {
	t.Helper()
	patch(t, l, mode)
	inForce(t, l, mode)
}

func patch(t *testing.T, l *lab.Lab, mode string) {
	t.Helper()
	_, err := l.Kubectl(t.Context(), "-n", lab.AgentNamespace, "patch", "configmap", "plumbline-guard", "--type=merge", "-p", fmt.Sprintf(`{"data":{"mode":%q}}`, mode))
	if err != nil {
		t.Fatal(err)
	}
}

// within is the documented limit for a change of the mode.
const within = 90 * time.Second

// inForce waits until the guard daemon of every remaining node reports that the mode is
// in force.
func inForce(t *testing.T, l *lab.Lab, mode string) {
	t.Helper()
	began := time.Now()
	err := lab.Eventually(t.Context(), within, func(ctx context.Context) error {
		for i := range l.Nodes {
			n, err := l.Node(ctx, i+1)
			if err != nil {
				return err
			}
			r, err := reported(n)
			if err != nil {
				return err
			}
			if err := r.is(mode); err != nil {
				return fmt.Errorf("%s: %w", n.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("guard: %v", err)
	}
	t.Logf("the guard is in mode %s after %.1f s", mode, time.Since(began).Seconds())
}

// is returns whether the mode is in force and the configuration matches it.
func (r report) is(mode string) error {
	force, state := mode, "patched"
	if mode == "off" {
		force, state = r.Mode, "plain"
		if force != "" && force != "off" {
			return fmt.Errorf("the guard is in mode %s: %s", r.Mode, r.Why)
		}
	}
	return stage.Expect(r.Wanted == mode && r.Mode == force && r.State == state && (mode == "off" || r.Version != ""), "the guard in mode %s, got %+v", mode, r)
}

func reported(n *lab.Node) (report, error) {
	var r report
	b, err := os.ReadFile(n.Path("/run/plumbline/guard/status"))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}

// An event has the fields of a call in the guard's event log that are used here.
type event struct {
	At        time.Time // when it ended
	Verb      string
	Node      string
	Container string
	Namespace string
	Pod       string
	Mode      string
	Rule      int
	Late      bool
	Called    bool
	Keyed     string
	Took      int64
	Code      int
	Error     string
	Says      string
	Lost      []string
	Did       []string
	Trouble   []string
}

// began is when the call started.
func (e event) began() time.Time { return e.At.Add(-time.Duration(e.Took) * time.Millisecond) }

func (e event) String() string {
	return fmt.Sprintf("%s %s %s %s/%s %.12s rule %d late %v called %v: %s %s %q %q %q", e.At.Format("15:04:05.000"), e.Node, e.Verb, e.Namespace, e.Pod, e.Container, e.Rule, e.Late, e.Called, e.Says, e.Error, e.Did, e.Lost, e.Trouble)
}

// events reads the guard's event log of a node, from both directories where it can be.
func events(n *lab.Node) ([]event, error) {
	var out []event
	seen := map[string]bool{}
	for _, dir := range []string{"/var/lib/plumbline/events", "/run/plumbline/guard/events"} {
		files, err := filepath.Glob(n.Path(dir) + "/*.events")
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			for line := range strings.Lines(string(b)) {
				if e, ok := eventOf(line); ok && !seen[line] {
					seen[line] = true // a line may be incomplete
					e.Node = n.Name
					out = append(out, e)
				}
			}
		}
	}
	return out, nil
}

func eventOf(line string) (event, bool) {
	var entry struct {
		At       time.Time
		By, What string
		Now      json.RawMessage
	}
	_, text, _ := strings.Cut(line, " ")
	if json.Unmarshal([]byte(text), &entry) != nil || entry.By != "guard" {
		return event{}, false
	}
	e := event{At: entry.At, Verb: entry.What}
	return e, json.Unmarshal(entry.Now, &e) == nil
}

// eventually reads a node's events until some match.
func eventually(t *testing.T, n *lab.Node, what string, fits func(event) bool) []event {
	t.Helper()
	var some []event
	err := lab.Eventually(t.Context(), 30*time.Second, func(context.Context) error {
		all, err := events(n)
		if err != nil {
			return err
		}
		some = nil
		for _, e := range all {
			if fits(e) {
				some = append(some, e)
			}
		}
		return stage.Expect(len(some) > 0, "%s among the %d calls of %s", what, len(all), n.Name)
	})
	if err != nil {
		t.Error(err)
	}
	return some
}
