package timeline_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline/records"
	"plumbline.dev/plumbline/internal/timeline/timelinetest"
)

// TestWrappings tells one recorded late DEL from containerd's log alone, in every form in which
// people have it: the same verdict, at the same time.
func TestWrappings(t *testing.T) {
	t.Parallel()
	lines := recordedLines(t, "testdata/recorded/late-del-kdd/node1/containerd.log.gz")
	verdicts := func(t *testing.T, file []byte) (brief []string, at time.Time) {
		t.Helper()
		l := told(t, []records.Input{{Name: "log", ModTime: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }}})
		all := everyVerdict(l)
		if len(all) > 0 {
			at = all[0].At
		}
		if left := l.Files()[0].Left; len(left) > 0 {
			t.Errorf("not read: %q", left)
		}
		return briefly(all), at
	}
	want, when := verdicts(t, timelinetest.Wrappings["01-plain"](lines))
	if len(want) == 0 {
		t.Fatal("no verdict from the plain log")
	}
	forms := maps.Clone(timelinetest.Wrappings)
	forms["18b-bz2"] = func([]timelinetest.Timed) []byte { // Go does not compress it
		b, err := os.ReadFile("testdata/containerd.log.bz2")
		if err != nil {
			t.Error(err)
		}
		return b
	}
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, at := verdicts(t, forms[name](lines))
			if !slices.Equal(got, want) || at.Sub(when).Abs() > time.Second {
				t.Errorf("%q at %s, want %q at %s", got, at, want, when)
			}
		})
	}
}

// TestNewestFirst tells the same from logs as stores show them, with the lines named by their place
// in the file as it is.
func TestNewestFirst(t *testing.T) {
	t.Parallel()
	lines := recordedLines(t, "testdata/recorded/late-del-kdd/node1/containerd.log.gz")
	turned := slices.Clone(lines)
	slices.Reverse(turned)
	for _, name := range []string{"01-plain", "02-syslog3164", "05-journal-json", "06-docker-json", "07-cri", "09-fluentbit-date", "10-loki-jsonl", "10c-grafana-json", "11b-es-search", "12-cloudwatch-json", "13-gcp-json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(b []byte) []records.Input {
				return []records.Input{{Name: "log", ModTime: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}}
			}
			file := timelinetest.Wrappings[name](turned)
			log := told(t, open(file))
			want, got := everyVerdict(told(t, open(timelinetest.Wrappings[name](lines)))), everyVerdict(log)
			if !slices.Equal(briefly(got), briefly(want)) || !got[0].At.Equal(want[0].At) {
				t.Fatalf("%q, want %q", briefly(got), briefly(want))
			}
			if name == "10c-grafana-json" || name == "11b-es-search" || name == "12-cloudwatch-json" {
				return
			}
			asIs := bytes.Split(timelinetest.Wrappings[name](lines), []byte("\n"))
			text := bytes.Split(file, []byte("\n"))
			for i, p := range got[0].Lines {
				if is, want := text[log.Files()[0].Number(p.Line)-1], asIs[want[0].Lines[i].Line-1]; !bytes.Equal(is, want) {
					t.Errorf("its line %d is %.200s, want %.200s", i, is, want)
				}
			}
		})
	}
}

// recordedLines reads a recorded log.
func recordedLines(t *testing.T, file string) []timelinetest.Timed {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
			b, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return timelinetest.Lines(string(b), 2026, "node1", "containerd")
}
