package timeline_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// recordedTruth is what the logs of each incident tell, and all that they may: POD CAUSE,
// with how certain it is. A star stands for what a controller adds to a pod's name.
var recordedTruth = map[string][]string{
	"late-del":      {"late-del/etcd1-0 late DEL proven"},
	"late-del-slow": {"late-del/etcd1-0 late DEL likely"}, // a stop that takes a minute; the logs end with it
	"legacy-handle": {"legacy-handle/web-0 late DEL likely"},
	"stale-nodename": {
		"stale-nodename/victim address changed hands likely", "stale-nodename/victim released by the IPAM garbage collector likely",
		"stale-nodename/victim stale node name proven",
	},
	"stuck-terminating": {
		"stuck-terminating/reader teardown blocked proven", "stuck-terminating/threads teardown blocked proven",
		"stuck-terminating/zombie teardown blocked proven",
	},
	"cascade": {"cascade/index-task-* teardown blocked likely", "cascade/index-task-* teardown blocked likely"},
	"churn":   nil,
}

// recording gives the inputs of one incident, without the files that are missing.
func recording(t *testing.T, name string, missing ...string) []records.Input {
	t.Helper()
	files := fstest.MapFS{}
	for _, file := range recordedFiles(t, name) {
		b, err := os.ReadFile("testdata/recorded/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(missing, file) {
			files[file] = &fstest.MapFile{Data: b}
		}
	}
	in, err := records.Walk(files, name)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func recordedFiles(t *testing.T, name string) []string {
	t.Helper()
	files, err := fs.Glob(os.DirFS("testdata/recorded"), name+"/*/*")
	if err != nil || len(files) < 8 {
		t.Fatalf("%s has %d files: %v", name, len(files), err)
	}
	return files
}

// eachRecording calls f with every recording: of every scenario in each mode, of the other
// versions of Calico in v*/, and of machines in debian*/.
func eachRecording(t *testing.T, f func(t *testing.T, name, scenario string)) {
	t.Helper()
	var names []string
	for _, glob := range []string{"*-kdd", "*-etcd", "v*/*", "debian*/*"} {
		found, err := fs.Glob(os.DirFS("testdata/recorded"), glob)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no recording (%v)", glob, err)
		}
		names = append(names, found...)
	}
	for _, name := range names {
		scenario := path.Base(name)[:strings.LastIndex(path.Base(name), "-")]
		if _, known := recordedTruth[scenario]; !known {
			t.Fatalf("%s: no truth is known of it", name)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, name, scenario)
		})
	}
}

func briefly(verdicts []timeline.Verdict) []string {
	var out []string
	for _, v := range verdicts {
		out = append(out, inShort(&v)+" "+string(v.Certainty))
	}
	slices.Sort(out)
	return out
}

func inShort(v *timeline.Verdict) string {
	pod := v.Pod
	if i := strings.Index(pod, "index-task-"); i >= 0 {
		pod = pod[:i] + "index-task-*"
	}
	return fmt.Sprintf("%s %s", pod, v.Cause)
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	eachRecording(t, func(t *testing.T, name, scenario string) {
		got := everyVerdict(told(t, recording(t, name)))
		if want := recordedTruth[scenario]; !slices.Equal(briefly(got), want) {
			t.Errorf("got %q, want %q", briefly(got), want)
		}
		for _, v := range got {
			if len(v.Lines) == 0 || v.Says == "" || v.At.IsZero() {
				t.Errorf("%+v", v)
			}
		}
	})
}

// TestRecordingsInPart checks that what is not there may take a verdict away or make it
// less certain, but brings up no other: without a file, without a node's directory,
// without what one component wrote anywhere, and with a file alone.
func TestRecordingsInPart(t *testing.T) {
	t.Parallel()
	eachRecording(t, func(t *testing.T, name, scenario string) {
		if testing.Short() && name != path.Base(name) {
			return // of other versions, when all cases are tried
		}
		all := recordedFiles(t, name)
		missing := map[string][]string{}
		for _, file := range all {
			for how, gone := range map[string]func(string) bool{
				"without " + file:                           func(s string) bool { return s == file },
				"without all of " + path.Dir(file):          func(s string) bool { return path.Dir(s) == path.Dir(file) },
				"without every " + component(file):          func(s string) bool { return component(s) == component(file) },
				"with nothing but " + file:                  func(s string) bool { return s != file },
				"with nothing but every " + component(file): func(s string) bool { return component(s) != component(file) },
			} {
				missing[how] = slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !gone(s) })
			}
		}
		for how, files := range missing {
			nothingNew(t, scenario, how, everyVerdict(told(t, recording(t, name, files...))))
		}
	})
}

func component(file string) string { return strings.TrimSuffix(path.Base(file), ".gz") }

func nothingNew(t *testing.T, scenario, how string, verdicts []timeline.Verdict) {
	t.Helper()
	for _, v := range verdicts {
		short := inShort(&v)
		if !slices.ContainsFunc(recordedTruth[scenario], func(s string) bool {
			return strings.HasPrefix(s, short) && (v.Certainty == timeline.Likely || strings.HasSuffix(s, string(timeline.Proven)))
		}) {
			t.Errorf("%s: %s [%s] %s", how, short, v.Certainty, v.Says)
		}
	}
}

// linesAt gives the text of the lines that a verdict rests on, by file.
func linesAt(t *testing.T, name string, v *timeline.Verdict) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	in := recording(t, name)
	for _, p := range v.Lines {
		r, err := in[p.File].Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err == nil && strings.HasSuffix(in[p.File].Name, ".gz") {
			var z *gzip.Reader
			if z, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
				b, err = io.ReadAll(z)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		file := component(in[p.File].Name)
		out[file] = append(out[file], strings.Split(string(b), "\n")[p.Line-1])
	}
	return out
}

// TestRecordedLines checks that the lines named are those of the DEL that did the harm,
// and of the ADD of what it harmed.
func TestRecordedLines(t *testing.T) {
	t.Parallel()
	const (
		wrote = "Wrote updated endpoint to datastore"
		kept  = "CNI_CONTAINERID does not match WorkloadEndpoint ContainerID"
	)
	for _, mode := range []string{"kdd", "etcd"} {
		for scenario, want := range map[string][]struct{ of, says string }{
			"late-del":      {{"victim", wrote}, {"culprit", kept}, {"victim", "Cleaning up netns"}, {"victim", "Released address using handleID"}},
			"legacy-handle": {{"victim", wrote}, {"culprit", kept}, {"culprit", "Released address using workloadID"}},
		} {
			name := scenario + "-" + mode
			v := everyVerdict(told(t, recording(t, name)))[0]
			lines := linesAt(t, name, &v)
			for _, file := range []string{"cni.log", "containerd.log"} {
				for _, w := range want {
					id := map[string]string{"culprit": v.Culprit, "victim": v.Victim}[w.of]
					if !slices.ContainsFunc(lines[file], func(s string) bool { return strings.Contains(s, w.says) && strings.Contains(s, `ContainerID="`+id) }) {
						t.Errorf("%s: no line of %s says %q of %.12s: %.200q", name, file, w.says, id, lines[file])
					}
				}
			}
			for file, list := range lines {
				for _, s := range list {
					if file != "audit.log" && file != "kubelet.log" && !strings.Contains(s, v.Culprit) && !strings.Contains(s, v.Victim) {
						t.Errorf("%s: a line of %s is of neither: %.200q", name, file, s)
					}
				}
			}
		}
	}
}
