package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"plumbline.dev/plumbline/internal/cli"
	"plumbline.dev/plumbline/internal/cli/term/termtest"
)

const seedLogs = "../timeline/records/testdata/seeds"

// TestTimelineScreens keeps what a person sees of the incidents that started it all.
func TestTimelineScreens(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"timeline-first":   {"pod", "etcd1-0", "-n", "lijiaob"},
		"timeline-second":  {"pod", "lijiaob/stateful-new-pod-0"},
		"timeline-sandbox": {"sandbox", "41857f70ed13"},
		"timeline-ip":      {"ip", "192.168.247.231"},
		"timeline-stuck":   {"pod", "xxxx-xxxxx-index-task-569f775985-2qv8x", "-n", "xxx-xxxx"},
		"timeline-all":     {},
		"timeline-window":  {"pod", "lijiaob/etcd1-0", "--until", "2017-12-12T20:10:00+08:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, 80, append(append([]string{"timeline"}, args...), "--logs", seedLogs)...)
			if r.code != 3 || !strings.HasPrefix(r.err, "not understood, for example seeds/000.txt:") || strings.Count(r.err, "\n") != 1 {
				t.Errorf("exit %d, %s", r.code, r.err) // a write-up is more than its logs
			}
			for l := range strings.Lines(r.out) {
				if n := utf8.RuneCountInString(strings.TrimRight(l, "\n")); n > 80 && !strings.HasPrefix(l, "Next") {
					t.Errorf("%d columns: %s", n, l)
				}
			}
			termtest.Screen(t, name, r.out)
		})
	}
}

// The token in the logs is in no form of the output.
func TestTimelineShowsNoCredential(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "wide", "json", "html"} {
		r := run(t, 0, "timeline", "pod", "lijiaob/stateful-new-pod-0", "--logs", seedLogs, "-o", format)
		if r.code != 3 || len(r.out) < 1000 || strings.Contains(r.out, "eyJhbGci") || strings.Contains(r.out, "c3ludGhldGlj") {
			t.Errorf("%s: exit %d, %d bytes, %s", format, r.code, len(r.out), r.err)
		}
	}
}

// Logs that were not read completely are named, whether there is a problem in the others or not.
func TestTimelineSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 12 {
		if err := os.WriteFile(filepath.Join(dir, string(rune('a'+i))), []byte("LPKSHHRH\x00"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := run(t, 80, "timeline", "--logs", dir)
	if lines := strings.Count(r.err, "a: not read: ") + strings.Count(r.err, "\n"); r.code != 2 || lines != 13 || !strings.Contains(r.err, "and 2 more; -o json lists them\n") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	r = run(t, 80, "timeline", "pod", "etcd1-0", "-n", "lijiaob", "--logs", seedLogs, "--logs", filepath.Join(dir, "a"))
	if r.code != 3 || !strings.HasPrefix(r.err, "a: not read: ") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// The zone of timestamps that show none is taken from --tz, and events are found by their real time.
func TestTimelineInZone(t *testing.T) {
	t.Parallel()
	log := "I1115 21:06:39.854317     612 kubelet.go:2400] \"SyncLoop DELETE\" source=\"api\" pods=[\"shop/db-0\"]\n"
	file := filepath.Join(t.TempDir(), "kubelet.log")
	if err := os.WriteFile(file, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 15, 13, 6, 39, 0, time.UTC)
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
	for zone, ok := range map[string]bool{"Asia/Shanghai": true, "+08:00": true, "": false, "America/New_York": false} {
		r := run(t, 80, "timeline", "pod", "db-0", "-n", "shop", "--logs", file, "--tz", zone, "--since", "2026-11-15T13:00:00Z", "-o", "json")
		if said := strings.Contains(r.out, "2026-11-15T21:06:39.854317+08:00"); r.code != 0 || said != ok {
			t.Errorf("%q: exit %d, %s%s", zone, r.code, r.out, r.err)
		}
	}
	for _, zone := range []string{"Mars/Phobos", "../etc/passwd", "8"} {
		if r := run(t, 80, "timeline", "--logs", file, "--tz", zone); r.code != 2 || !strings.Contains(r.err, "Asia/Shanghai") {
			t.Errorf("%q: exit %d, %s", zone, r.code, r.err)
		}
	}
}

func TestTimelineJSON(t *testing.T) {
	t.Parallel()
	r := run(t, 0, "timeline", "pod", "lijiaob/etcd1-0", "--logs", seedLogs, "-o", "json")
	var doc struct {
		Kind    string
		Stories []struct {
			Verdicts []struct {
				Cause, Certainty, Culprit, Victim, At string
				Lines                                 []string
			}
		}
	}
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil || doc.Kind != "TimelineReport" || len(doc.Stories) != 1 {
		t.Fatalf("%v: %.300s", err, r.out)
	}
	v := doc.Stories[0].Verdicts[0]
	if v.Cause != "late DEL" || v.Certainty != "proven" || !strings.HasPrefix(v.Culprit, "94feeebc95fb") || !strings.HasPrefix(v.Victim, "291716a39be9") ||
		v.At != "2017-12-12T20:22:24+08:00" || len(v.Lines) == 0 || !strings.HasPrefix(v.Lines[0], "seeds/000.txt:") {
		t.Errorf("%+v", v)
	}
}

// What is appended is told, by whole lines; verdicts come when it is quiet.
func TestTimelineFollow(t *testing.T) {
	t.Parallel()
	seed, err := os.ReadFile(filepath.Join(seedLogs, "000.txt"))
	if err != nil {
		t.Fatal(err)
	}
	half := strings.Index(string(seed), "CNI_COMMAND=DEL") // in the middle of a line
	path := filepath.Join(t.TempDir(), "kubelet.log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	write := func(b []byte) {
		if _, err := f.Write(b); err != nil {
			t.Error(err)
		}
	}
	write(seed[:half])
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	time.AfterFunc(1500*time.Millisecond, func() { write(seed[half:]) })
	out := endsAt{word: "VERDICT", end: func() { time.AfterFunc(2500*time.Millisecond, stop) }} // and is it told once?
	code := cli.Main(ctx, cli.Env{
		Args: []string{"plumbline", "timeline", "pod", "lijiaob/etcd1-0", "--logs", path, "-f"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Columns: 80,
		Getenv: func(string) string { return "" },
	})
	text := out.String()
	add, late := strings.Index(text, "ADD 192.168.252.66"), strings.Index(text, "VERDICT   late DEL: the DEL of sandbox 94feeebc95fb")
	if code != 0 || add < 0 || late < add || strings.Count(text, "VERDICT   late DEL") != 1 || !strings.Contains(text, "kubelet.log:1") {
		t.Errorf("exit %d\n%s", code, text)
	}
}

// An endsAt ends something when a word was written to it.
type endsAt struct {
	bytes.Buffer
	word string
	end  func()
}

func (e *endsAt) Write(b []byte) (int, error) {
	n, err := e.Buffer.Write(b)
	if e.end != nil && strings.Contains(e.String(), e.word) {
		e.end()
		e.end = nil
	}
	return n, err
}

func TestTimelineUsage(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"name one":                 {"pod"},
		"specify a pod":            {},
		"want pod, ip or sandbox":  {"node", "n1", "--logs", seedLogs},
		"8 hexadecimal digits":     {"sandbox", "xyz", "--logs", seedLogs},
		"no line of these logs":    {"pod", "a/b", "--logs", seedLogs},
		"neither a time":           {"pod", "a/b", "--logs", seedLogs, "--since", "soon"},
		"no such file":             {"pod", "a/b", "--logs", "nowhere"},
		"--follow needs --logs":    {"pod", "a/b", "-f"},
		"--follow works with":      {"pod", "a/b", "-f", "-o", "json"},
		"shows one pod":            {"--logs", seedLogs, "-o", "html"},
		"ip x: not an address":     {"ip", "x", "--logs", seedLogs},
		"accepts at most 2 arg(s)": {"pod", "a", "b"},
		"want text, wide, json, yaml, html, jsonpath= or go-template=": {"--logs", seedLogs, "-o", "what"},
	} {
		if r := run(t, 80, append([]string{"timeline"}, args...)...); r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("%v: exit %d, %s, want %q", args, r.code, r.err, want)
		}
	}
}

// A finding's cause is shown with it.
func TestCheckWithLogs(t *testing.T) {
	t.Parallel()
	r := run(t, 80, "check", "--bundle", bundle(t, "PL1006", nil), "--logs", seedLogs, "-o", "json")
	if r.code != 1 || !strings.Contains(r.out, `"PL9002/seeds/000.txt"`) || !strings.Contains(r.out, "2 of its lines contain a credential") {
		t.Errorf("exit %d, %s\n%.1000s", r.code, r.err, r.out)
	}
}
