package timeline_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/parse"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// seeds reads the incidents that the product exists for, as their author pasted them.
func seeds(t *testing.T) *timeline.Log {
	t.Helper()
	in, err := records.Walk(os.DirFS("records/testdata"), "seeds")
	if err != nil {
		t.Fatal(err)
	}
	l := timeline.NewLog()
	files, err := records.All(t.Context(), in, records.Options{
		Now: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), Wants: parse.Wants,
		Parser: func(_ uint16, f *timeline.File) func(*records.Record) { return parse.New(f, l.Add).Parse },
	})
	if err != nil {
		t.Fatal(err)
	}
	l.SetFiles(files)
	return l
}

// verdicts gives a pod's verdicts by cause.
func verdicts(t *testing.T, l *timeline.Log, pod string) map[timeline.Cause]timeline.Verdict {
	t.Helper()
	s := l.Pod(pod)
	if s == nil {
		t.Fatalf("nothing is known of %s", pod)
	}
	timeline.Judge(s)
	out := map[timeline.Cause]timeline.Verdict{}
	for _, v := range s.Verdicts {
		if _, twice := out[v.Cause]; twice {
			t.Errorf("%s has two verdicts of %s", pod, v.Cause)
		}
		out[v.Cause] = v
	}
	return out
}

var china = time.FixedZone("", 8*3600)

func TestSeed000First(t *testing.T) {
	t.Parallel()
	v := verdicts(t, seeds(t), "lijiaob/etcd1-0")
	late := v[timeline.LateDel]
	if late.Certainty != timeline.Proven || !strings.HasPrefix(late.Culprit, "94feeebc95fb") || !strings.HasPrefix(late.Victim, "291716a39be9") ||
		!late.At.Equal(time.Date(2017, 12, 12, 20, 22, 24, 0, china)) || !slices.Equal(late.Lost, []string{"endpoint"}) {
		t.Errorf("late DEL: %+v", late)
	}
	if want := "whether 192.168.252.66 was released: a release by name was requested, but only block 192.168.176.64-26 was read"; !slices.Contains(late.NotShown, want) {
		t.Errorf("not shown: %q", late.NotShown)
	}
	retried := v[timeline.RetriedDel]
	if retried.At.Format("15:04:05 -07:00") != "20:00:18 +08:00" || !strings.HasPrefix(retried.Error, "resource does not exist: WorkloadEndpoint(node=slave-197") {
		t.Errorf("retried DEL: %+v", retried)
	}
	if len(v) != 2 {
		t.Errorf("%d verdicts", len(v))
	}
}

func TestSeed000Second(t *testing.T) {
	t.Parallel()
	v := verdicts(t, seeds(t), "lijiaob/stateful-new-pod-0")
	late := v[timeline.LateDel]
	if late.Certainty != timeline.Proven || !strings.HasPrefix(late.Culprit, "41857f70ed13") || !strings.HasPrefix(late.Victim, "247d3c783345") ||
		!late.At.Equal(time.Date(2017, 12, 13, 10, 28, 9, 0, china)) || !slices.Equal(late.Lost, []string{"endpoint", "handle"}) {
		t.Errorf("late DEL: %+v", late)
	}
	retried := v[timeline.RetriedDel]
	if retried.At.Format("15:04:05") != "10:27:42" || retried.Until.Format("15:04:05") != "10:28:09" || retried.Count != 1 {
		t.Errorf("retried DEL: %+v", retried)
	}
	if c := v[timeline.Credential]; c.Count != 2 || strings.Contains(c.Says, "eyJ") {
		t.Errorf("credential: %+v", c)
	}
	m := v[timeline.AddressMoved]
	if m.Certainty != timeline.Proven || m.Was.String() != "192.168.8.33" || m.Is.String() != "192.168.8.34" ||
		m.Says != "192.168.8.33 became 192.168.8.34 (sandbox 247d3c783345) by 10:27:49" || !slices.Equal(linesOf(m), []uint32{188, 193, 332}) {
		t.Errorf("address: %+v", m)
	}
	if want := "when it had 192.168.8.33, and in which sandbox: the table that shows it has neither"; !slices.Equal(m.NotShown, []string{want}) {
		t.Errorf("not shown of the address: %q", m.NotShown)
	}
	if len(v) != 4 {
		t.Errorf("%d verdicts", len(v))
	}
}

func linesOf(v timeline.Verdict) []uint32 {
	var out []uint32
	for _, p := range v.Lines {
		out = append(out, p.Line)
	}
	return out
}

// TestSeed000Tables checks that rows of docker tell the sandboxes' UIDs, and that rows
// stand in the story where they stand in the file.
func TestSeed000Tables(t *testing.T) {
	t.Parallel()
	s := seeds(t).Pod("lijiaob/stateful-new-pod-0")
	got := map[string]string{}
	for _, b := range s.Sandboxes {
		got[b.ID[:12]] = b.UID + " " + b.Addresses[0].String() + " " + b.Node
	}
	if want := map[string]string{
		"41857f70ed13": "0bdc387d-dfac-11e7-9a8f-52549da43ad9 192.168.8.33 dev-slave-107",
		"247d3c783345": "35b722f5-dfad-11e7-9a8f-52549da43ad9 192.168.8.34 dev-slave-107",
	}; !maps.Equal(got, want) {
		t.Errorf("sandboxes: %v", got)
	}
	var rows []string
	for _, e := range s.Events {
		if e.At.IsZero() {
			rows = append(rows, fmt.Sprintf("%d %s", e.Place.Line, e.Source))
		} else if n := len(rows); n > 0 && rows[n-1] != "…" {
			rows = append(rows, "…")
		}
	}
	if got, want := strings.Join(rows, ", "), "188 kubectl, 214 docker, 215 docker, 254 kubectl, 282 docker, 283 docker, …, 309 docker, 310 docker, …"; got != want {
		t.Errorf("rows: %s", got)
	}
}

func TestSeed001(t *testing.T) {
	t.Parallel()
	m := verdicts(t, seeds(t), "XXXXX-system/XXXXX-0")[timeline.AddressMoved]
	if m.Was.String() != "192.168.247.220" || m.Is.String() != "192.168.247.231" || m.At.Format("15:04") != "10:09" || m.Until.Format("15:04") != "10:11" {
		t.Errorf("got %+v", m)
	}
	for _, part := range []string{"pod UID 1d402e65, container 6a661302e272", "pod UID 4f663934, container f8189c4b982a"} {
		if !strings.Contains(m.Says, part) {
			t.Errorf("%q lacks %q", m.Says, part)
		}
	}
	if len(m.NotShown) != 3 {
		t.Errorf("not shown: %q", m.NotShown)
	}
}

func TestSeed004(t *testing.T) {
	t.Parallel()
	v := verdicts(t, seeds(t), "xxx-xxxx/xxxx-xxxxx-index-task-569f775985-2qv8x")[timeline.TeardownBlocked]
	if v.Certainty != timeline.Proven || !strings.Contains(v.Says, "does not stop in time") || !strings.Contains(v.Says, "/proc/30849/ns/ipc is gone") {
		t.Errorf("got %+v", v)
	}
}

// TestSeedsNothingElse checks that these are all the verdicts on the seeds.
func TestSeedsNothingElse(t *testing.T) {
	t.Parallel()
	busy := " teardown blocked proven"        // of containers in a dockerd's log that nothing gives a pod's name
	gateway := " gateway not resolved likely" // of a pod that the pasted line does not name
	want := []string{
		gateway, gateway, busy, busy, busy,
		"XXXXX-system/XXXXX-0 address changed hands proven",
		"lijiaob/etcd1-0 late DEL proven", "lijiaob/etcd1-0 retried DEL likely",
		"lijiaob/stateful-new-pod-0 address changed hands proven", "lijiaob/stateful-new-pod-0 credential in the log proven",
		"lijiaob/stateful-new-pod-0 late DEL proven", "lijiaob/stateful-new-pod-0 retried DEL likely",
		"xxx-xxxx/xxxx-xxxxx-index-task-* teardown blocked proven",
	}
	if got := briefly(everyVerdict(seeds(t))); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
