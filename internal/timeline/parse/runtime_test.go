package parse

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

var updateRuntime = flag.Bool("update-runtime", false, "rewrite the golden files of the kubelet, runtime, event and audit parsers")

// toldOf gives all that is told of a log, one line an event.
func toldOf(t testing.TB, log string) []string {
	t.Helper()
	var out []string
	in := records.Input{Name: "log", ModTime: time.Date(2026, 11, 15, 14, 0, 0, 0, time.UTC), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(log)), nil
	}}
	_, err := records.All(context.Background(), []records.Input{in}, records.Options{
		Now: in.ModTime, Workers: 1, Wants: Wants,
		Parser: func(_ uint16, f *timeline.File) func(*records.Record) {
			return New(f, func(e timeline.Event) { out = append(out, inOneLine(&e)) }).Parse
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// inOneLine writes an event without its time and place.
func inOneLine(e *timeline.Event) string {
	parts := []string{e.Source + ": " + e.Kind.String()}
	for _, p := range [...][2]string{
		{"node", e.Node},
		{"pod", e.Pod},
		{"uid", shortened(e.UID)},
		{"sandbox", shortened(e.Sandbox)},
		{"container", shortened(e.Container)},
		{"object", e.Object},
		{"note", e.Note},
	} {
		if p[1] != "" {
			parts = append(parts, p[0]+"="+p[1])
		}
	}
	if e.Address.IsValid() {
		parts = append(parts, "address="+e.Address.String())
	}
	if e.Count != 0 {
		parts = append(parts, fmt.Sprintf("count=%d", e.Count))
	}
	return strings.Join(parts, " ")
}

func shortened(id string) string { return id[:min(len(id), 12)] }

// TestRecorded compares the events of recorded logs with the golden files.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for _, log := range []string{
		"kubelet-v1.34.4", "containerd-1.6.20", "audit-v1.34.4",
		"seed000-kubelet-v1.7.6-and-dockerd", "seed001-kubelet-v1.7.6", "seed004-events-kubelet-dockerd-2019",
	} {
		t.Run(log, func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(filepath.Join("testdata", log+".log"))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(toldOf(t, string(b)), "\n") + "\n"
			golden := filepath.Join("testdata", log+".golden")
			if *updateRuntime {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

// A toldCase compares the events of single lines.
type toldCase struct {
	name, log string
	want      []string
}

func compare(t *testing.T, cases []toldCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := toldOf(t, c.log); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func klogLine(file, message string) string {
	return "I1115 10:31:56.650149      36 " + file + ":1601] " + message + "\n"
}

func runtimeLine(message, fields string) string {
	return `time="2026-11-15T10:31:56.650149Z" level=info msg=` + fmt.Sprintf("%q", message) + fields + "\n"
}

// TestRuntimeWantsIsQuick makes sure that lines that are not wanted cost no memory.
func TestRuntimeWantsIsQuick(t *testing.T) {
	for _, r := range unwanted() {
		if Wants(&r) {
			t.Fatalf("%s is wanted", r.Text)
		}
		if n := testing.AllocsPerRun(100, func() { Wants(&r) }); n != 0 {
			t.Errorf("%v allocations for %s", n, r.Text)
		}
	}
}

func unwanted() []records.Record {
	audit := bytes.Replace([]byte(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"x","stage":"ResponseComplete","requestURI":"/api/v1/nodes","verb":"update","objectRef":{"resource":"leases","namespace":"kube-node-lease"},"pad":"PAD"}`), []byte("PAD"), bytes.Repeat([]byte("x"), 600), 1)
	return []records.Record{
		{Style: records.Klog, Origin: "reconciler_common.go", Text: []byte(`"operationExecutor.MountVolume started for volume \"hang\" (UniqueName: \"kubernetes.io/host-path\")" pod="a/b"`)},
		{Style: records.Klog, Origin: "kubelet.go", Text: []byte(`"SyncLoop (probe)" probe="readiness" status="ready" pod="churn/web-0"`)},
		{Style: records.Logrus, Text: []byte(`StopContainr for nobody with a rather long message that begins like others`)},
		{Style: records.JSON, Text: audit},
		{Style: records.JSON, Text: []byte(`{"level":"info","ts":"2026-11-15T13:06:22.766Z","caller":"etcdserver/server.go:100","msg":"compacted","took":"1ms"}`)},
		{Style: records.Plain, Text: []byte("Nothing to see here in this line of plain text"), Raw: []byte("Nothing to see here in this line of plain text")},
	}
}

func BenchmarkWantsRuntime(b *testing.B) {
	for i, name := range []string{"klog", "klogSameFile", "logrus", "audit", "json", "plain"} {
		r := unwanted()[i]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Wants(&r)
			}
		})
	}
}
