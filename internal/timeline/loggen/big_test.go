//go:build e2e

package loggen_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

var (
	size   = flag.Int64("bytes", 200<<20, "how many bytes of logs TestBig writes")
	into   = flag.String("dir", "", "where TestBig writes them; a directory of the test's if empty")
	binary = flag.String("binary", "", "bin/plumbline, to be measured too")
	limit  = flag.Int64("limit", 220<<20, "the child's memory limit (debug.SetMemoryLimit)")
)

// asked tells the child which directories it is to read, with commas.
const asked = "PLUMBLINE_HISTORY_PASS"

func TestMain(m *testing.M) {
	if dirs := os.Getenv(asked); dirs != "" {
		if err := pass(context.Background(), strings.Split(dirs, ","), os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	os.Exit(m.Run())
}

// A figure is what one pass cost.
type figure struct {
	Seconds  float64
	CPU      float64 // of all cores together
	Reading  float64 // of these, until the last line was told of
	Lines    int64
	Bytes    int64
	Events   int
	Stories  int
	Verdicts int
	PeakKB   int // VmHWM
	Left     []string
}

// pass is what the product does: read all, tell, judge every story.
func pass(ctx context.Context, dirs []string, w io.Writer) error {
	if n, err := strconv.ParseInt(os.Getenv(asked+"_LIMIT"), 10, 64); err == nil && n > 0 {
		debug.SetMemoryLimit(n)
	}
	start := time.Now() //nolint:forbidigo // a measurement
	var in []records.Input
	for _, d := range dirs {
		more, err := records.Walk(os.DirFS(d), ".")
		if err != nil {
			return err
		}
		in = append(in, more...)
	}
	l, err := told(ctx, in, start)
	if err != nil {
		return err
	}
	f := figure{Events: l.Len(), Left: l.Left(), Reading: time.Since(start).Seconds()}
	for _, file := range l.Files() {
		f.Lines += int64(file.Lines)
		f.Bytes += file.Bytes
	}
	count := func(*timeline.Story) { f.Stories++ }
	f.Verdicts = len(verdicts(l, count))
	f.Seconds = time.Since(start).Seconds()
	f.PeakKB = peak("/proc/self/status")
	return json.NewEncoder(w).Encode(f)
}

// peak reads VmHWM.
func peak(status string) int {
	f, err := os.Open(status)
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if v, ok := strings.CutPrefix(s.Text(), "VmHWM:"); ok {
			n, _ := strconv.Atoi(strings.Fields(v)[0])
			return n
		}
	}
	return 0
}

// TestBig writes logs of the size that is asked for in ten parts, and measures one pass
// over one, two, five and all of them beside grep over the same files.
func TestBig(t *testing.T) {
	dir := cmp.Or(*into, t.TempDir())
	parts, pod, sum := writeBig(t, dir, *size)
	t.Logf("%d lines, about %d of them distinct, %.2f GB in %d parts; memory available: %s", sum.lines, sum.distinct.count(), float64(sum.bytes)/1e9, len(parts), available())
	for _, n := range []int{1, 2, 5, len(parts)} {
		dirs := parts[:n]
		cat(t, dirs) // so that both read from the page cache, if it holds them
		grep, core := timeGrep(t, dirs)
		f := child(t, dirs)
		again, _ := timeGrep(t, dirs)
		t.Logf("%2d parts: %.2f GB, %d lines, %d events, %d stories, %d verdicts %v", n, float64(f.Bytes)/1e9, f.Lines, f.Events, f.Stories, f.Verdicts, f.Left)
		t.Logf("    %.2f s (%.2f s of it reading), CPU %.2f s, %.0f MB/s, peak %d MB", f.Seconds, f.Reading, f.CPU, float64(f.Bytes)/1e6/f.Seconds, f.PeakKB/1024)
		t.Logf("    grep %.2f s before and %.2f s after, CPU %.2f s: ratio of speeds %.2f, of CPU %.2f", grep, again, core, (grep+again)/2/f.Seconds, core/f.CPU)
		if f.Bytes == 0 || f.Events == 0 || f.Verdicts == 0 {
			t.Errorf("nothing was read: %+v", f)
		}
	}
	if *binary != "" {
		timeBinary(t, dir, pod)
	}
}

func child(t *testing.T, dirs []string) (f figure) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), asked+"="+strings.Join(dirs, ","), fmt.Sprintf("%s_LIMIT=%d", asked, *limit))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &f); err != nil {
		t.Fatal(err)
	}
	f.CPU = cpu(c.ProcessState)
	return f
}

// timeGrep gives how many seconds grep takes for the same files, by the clock and of one
// core.
func timeGrep(t *testing.T, dirs []string) (seconds, core float64) {
	t.Helper()
	start := time.Now() //nolint:forbidigo // a measurement
	c := exec.CommandContext(t.Context(), "grep", append([]string{"-rc", "CNI_COMMAND"}, dirs...)...)
	out, err := c.Output()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return time.Since(start).Seconds(), cpu(c.ProcessState)
}

func cpu(p *os.ProcessState) float64 { return (p.UserTime() + p.SystemTime()).Seconds() }

func cat(t *testing.T, dirs []string) {
	t.Helper()
	for _, d := range dirs {
		if err := filepath.WalkDir(d, func(p string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			f, err := os.Open(p)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.Copy(io.Discard, f)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// timeBinary measures the program itself.
func timeBinary(t *testing.T, dir, pod string) {
	t.Helper()
	start := time.Now() //nolint:forbidigo // a measurement
	c := exec.CommandContext(t.Context(), *binary, "timeline", "pod", pod, "--logs", dir)
	out, err := c.CombinedOutput()
	seconds := time.Since(start).Seconds()
	rss := int64(0)
	if c.ProcessState != nil {
		rss = maxRSS(c.ProcessState)
	}
	t.Logf("%s timeline pod %s: %.2f s, peak %d MB, %d bytes of answer (%v)\n%.600s", *binary, pod, seconds, rss/1024, len(out), err, out)
}

func available() string {
	b, _ := os.ReadFile("/proc/meminfo")
	for l := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(l, "MemAvailable:"); ok {
			return strings.TrimSpace(v)
		}
	}
	return "unknown"
}
