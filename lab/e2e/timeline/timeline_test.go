//go:build e2e

package timeline

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/scenarios"
	"plumbline.dev/plumbline/lab/stage"
)

var (
	suite = flag.String("suite", "all", "comma-separated scenarios, or all")
	into  = flag.String("into", "", "directory for the logs")
)

func TestMain(m *testing.M) { lab.Main(m) }

// truth has the causes that the timeline must report for each incident, and no others:
// POD CAUSE. A star stands for the suffix that a controller adds to a pod's name.
var truth = map[string][]string{
	"late-del":          {"late-del/etcd1-0 late DEL"},
	"legacy-handle":     {"legacy-handle/web-0 late DEL"},
	"stale-nodename":    {"stale-nodename/victim address changed hands", "stale-nodename/victim released by the IPAM garbage collector", "stale-nodename/victim stale node name"},
	"stuck-terminating": {"stuck-terminating/reader teardown blocked", "stuck-terminating/threads teardown blocked", "stuck-terminating/zombie teardown blocked"},
	"cascade":           {"cascade/index-task-* teardown blocked"},
	"churn":             nil,
}

// TestLogs runs incidents, and checks the timeline of the logs that the real components
// wrote.
func TestLogs(t *testing.T) {
	for _, mode := range stage.Both {
		t.Run(string(mode), func(t *testing.T) {
			for _, sc := range scenarios.All {
				if _, told := truth[sc.Name]; told && slices.Contains(sc.Modes, mode) && (*suite == "all" || slices.Contains(strings.Split(*suite, ","), sc.Name)) {
					t.Run(sc.Name, func(t *testing.T) { play(t, mode, sc) })
				}
			}
		})
	}
}

func play(t *testing.T, mode lab.Datastore, sc stage.Scenario) {
	l := lab.Start(t, lab.Config{Nodes: sc.Nodes, Datastore: mode})
	if sc.Name == "late-del" {
		product.InstallAgents(t, l)
	}
	look := func(_ context.Context, _ *stage.Stage, moment string, _ []string) error {
		if sc.Name == "late-del" && moment == "released" {
			byAgents(t, l)
		}
		return nil
	}
	err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }, Check: look, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "logs")
	if *into != "" {
		dir = filepath.Join(*into, sc.Name+"-"+string(mode))
	}
	if err := l.KeepLogs(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	got := verdicts(t, l, "--logs", dir)
	if want := truth[sc.Name]; !slices.Equal(got, want) {
		t.Errorf("the timeline reports %q, want %q", got, want)
	}
}

// A summary has the fields of timeline -o json that are used here.
type summary struct {
	Verdicts []verdict
	Stories  []struct{ Verdicts []verdict }
	NotRead  []string
}

type verdict struct {
	Pod, Cause, Culprit, Victim string
	Lines                       []string
}

func timeline(t *testing.T, l *lab.Lab, args ...string) summary {
	t.Helper()
	out, code, err := stage.Plumbline(t.Context(), l, product.Binary(t), t.TempDir(), append([]string{"timeline", "-o", "json"}, args...)...)
	var s summary
	if err == nil {
		err = json.Unmarshal([]byte(out), &s)
	}
	if err != nil || code != 0 && code != 1 && code != 3 { // 1: something failed; 3: a log was not read completely, and is named
		t.Fatalf("timeline %s: exit code %d, %v\n%.2000s", strings.Join(args, " "), code, err, out)
	}
	return s
}

// verdicts returns POD CAUSE of every verdict, each once; each must reference existing
// lines.
func verdicts(t *testing.T, l *lab.Lab, args ...string) []string {
	t.Helper()
	var out []string
	for _, v := range timeline(t, l, args...).Verdicts {
		t.Logf("%s: %s by %.12s of %.12s, %q", v.Pod, v.Cause, v.Culprit, v.Victim, v.Lines)
		if i := strings.Index(v.Pod, "index-task-"); i >= 0 {
			v.Pod = v.Pod[:i] + "index-task-*"
		}
		if len(v.Lines) == 0 {
			t.Errorf("%s of %s references no line", v.Cause, v.Pod)
		}
		if s := v.Pod + " " + v.Cause; !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

// byAgents reads the logs through the agents: no file is local.
func byAgents(t *testing.T, l *lab.Lab) {
	t.Helper()
	err := lab.Eventually(t.Context(), time.Minute, func(context.Context) error { // the runtime and the plugin write their logs when they get to it
		s := timeline(t, l, "pod", "etcd1-0", "-n", "late-del")
		t.Logf("not read: %q", s.NotRead)
		if len(s.Stories) != 1 {
			return fmt.Errorf("%d timelines", len(s.Stories))
		}
		late := slices.ContainsFunc(s.Stories[0].Verdicts, func(v verdict) bool {
			return v.Cause == "late DEL" && slices.ContainsFunc(v.Lines, func(l string) bool { return strings.HasPrefix(l, "node1:/var/log/") })
		})
		return stage.Expect(late, "a late DEL by the agents' lines, got %+v", s.Stories[0].Verdicts)
	})
	if err != nil {
		t.Fatal(err)
	}
	explained(t, l)
}

// explained requires that explain reports the cause too.
func explained(t *testing.T, l *lab.Lab) {
	t.Helper()
	out, _, err := stage.Plumbline(t.Context(), l, product.Binary(t), t.TempDir(), "explain", "pod", "etcd1-0", "-n", "late-del")
	if err != nil || !strings.Contains(out, "Cause     late DEL") {
		t.Errorf("explain does not report the cause: %v\n%s", err, out)
	}
	t.Log(out)
}
