//go:build e2e

package rebuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// A result is the output and cost of a run of the program.
type result struct {
	exit int
	text string
	took time.Duration
}

// run runs the program as a user would, and records its cost.
func (c *cluster) run(t *testing.T, r *report, args ...string) result {
	t.Helper()
	bin, err := filepath.Abs(*binary)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env = append(append(os.Environ(), c.Env()...), "XDG_STATE_HOME="+c.state)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	peak := memoryOf(cmd.Process.Pid)
	err = cmd.Wait()
	took, most := time.Since(began), peak()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	r.add(strings.Join(args[:min(2, len(args))], " "), short(took), fmt.Sprintf("exit %d, %s CPU, %d MB at most, load %s", cmd.ProcessState.ExitCode(), short(cpu), most>>20, load1()))
	t.Logf("%s: exit %d in %s\n%s\n%s", strings.Join(args, " "), cmd.ProcessState.ExitCode(), short(took), cut(diag.String()), cut(out.String()))
	return result{cmd.ProcessState.ExitCode(), diag.String() + out.String(), took}
}

// memoryOf reads the memory of a process until it exits, and returns the peak. The peak
// that wait returns includes that of the parent at the start.
func memoryOf(pid int) (peak func() int64) {
	end, told := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		for {
			b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if _, rest, ok := strings.Cut(string(b), "VmHWM:"); ok {
				var kilobytes int64
				if _, err := fmt.Sscan(rest, &kilobytes); err == nil {
					most = max(most, kilobytes<<10)
				}
			}
			select {
			case <-end:
				told <- most
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(end)
		return <-told
	}
}

func cut(s string) string {
	const most = 3000
	if len(s) > most {
		return s[:most/2] + "\n...\n" + s[len(s)-most/2:]
	}
	return s
}

// A report is the table that is printed at the end.
type report struct{ rows [][3]string }

func (r *report) add(what, value, more string) { r.rows = append(r.rows, [3]string{what, value, more}) }

func (r *report) String() string {
	var b strings.Builder
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, row := range r.rows {
		fmt.Fprintln(w, strings.Join(row[:], "\t"))
	}
	_ = w.Flush()
	return b.String()
}

func short(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }

// load1 is the machine's load average of the last minute: it may run other work.
func load1() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "?"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}
