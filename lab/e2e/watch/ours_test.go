//go:build e2e

package watch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// ours is a running check --watch -v.
type ours struct {
	cmd  *exec.Cmd
	done chan error

	mu       sync.Mutex
	standing map[string]bool
	verdicts []verdict
	began    bool     // the first check is complete
	said     []string // the last lines that are not verdicts
}

// A verdict is one line of it.
type verdict struct {
	at     time.Time
	raised bool
	key    string
	own    float64 // milliseconds since the event of the change arrived, as reported
}

var verdictLine = regexp.MustCompile(`^(\d\d:\d\d:\d\d\.\d{3}) (unconfirmed|cleared) (.*?)(?:, ([0-9.]+) ms after the first change)?$`)

// start runs it until the test ends.
func start(t *testing.T, l *lab.Lab, args ...string) *ours {
	t.Helper()
	o := &ours{standing: map[string]bool{}, done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	o.cmd = stage.Command(ctx, l, plumbline(t), t.TempDir(), append([]string{"check", "--watch", "-v"}, args...)...)
	stdout, err := o.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := o.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { o.hear(stdout, o.shown) })
	wg.Go(func() { o.hear(stderr, o.told) })
	go func() { wg.Wait(); o.done <- o.cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			o.mu.Lock()
			defer o.mu.Unlock()
			t.Logf("it printed:\n%s", strings.Join(o.said, "\n"))
		}
	})
	return o
}

func (o *ours) hear(r io.Reader, line func(string)) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		o.mu.Lock()
		line(in.Text())
		o.mu.Unlock()
	}
}

func (o *ours) shown(line string) {
	o.began = true
	o.keep("| " + line)
}

func (o *ours) told(line string) {
	m := verdictLine.FindStringSubmatch(line)
	if m == nil {
		o.keep("  " + line)
		return
	}
	now := time.Now()
	at, err := time.ParseInLocation("2006-01-02 15:04:05.000", now.Format("2006-01-02 ")+m[1], time.Local)
	if err != nil {
		o.keep("  " + line)
		return
	}
	v := verdict{at: at, raised: m[2] == "unconfirmed", key: m[3]}
	v.own, _ = strconv.ParseFloat(m[4], 64) // a finding without a change has none
	o.verdicts = append(o.verdicts, v)
	if v.raised {
		o.standing[v.key] = true
	} else {
		delete(o.standing, v.key)
	}
}

func (o *ours) keep(line string) {
	const most = 400
	if len(o.said) >= most {
		o.said = slices.Delete(o.said, 0, most/2)
	}
	o.said = append(o.said, time.Now().Format("15:04:05.000 ")+line)
}

// stands returns the findings that are currently unconfirmed.
func (o *ours) stands() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.standing))
}

// heard returns the verdicts so far.
func (o *ours) heard() []verdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.verdicts)
}

func (o *ours) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.verdicts)
}

// begins waits for the first check.
func (o *ours) begins(t *testing.T, within time.Duration) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		o.mu.Lock()
		began := o.began
		o.mu.Unlock()
		if began {
			return
		}
		select {
		case err := <-o.done:
			t.Fatalf("it exited before its first check: %v", err)
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("no first check within %s", within)
		}
	}
}

// wait waits until the findings are as wanted, and stay so for a moment.
func (o *ours) wait(t *testing.T, what string, within time.Duration, want []string) {
	t.Helper()
	want = slices.Sorted(slices.Values(want))
	begun := time.Now()
	for end := begun.Add(within); ; time.Sleep(5 * time.Millisecond) {
		got := o.stands()
		if slices.Equal(got, want) {
			time.Sleep(100 * time.Millisecond)
			if got = o.stands(); slices.Equal(got, want) {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("%s: after %s%s", what, within, differs(got, want))
		}
	}
}

func differs(got, want []string) string {
	var b strings.Builder
	for _, w := range want {
		if !slices.Contains(got, w) {
			fmt.Fprintf(&b, "; not reported: %s", w)
		}
	}
	for _, g := range got {
		if !slices.Contains(want, g) {
			fmt.Fprintf(&b, "; reported although absent: %s", g)
		}
	}
	return b.String()
}

// calms waits until it has reported nothing for a while: the server may be behind.
func (o *ours) calms(quiet, most time.Duration) {
	last, since := -1, time.Now()
	for end := time.Now().Add(most); time.Now().Before(end) && time.Since(since) < quiet; time.Sleep(50 * time.Millisecond) {
		if n := o.count(); n != last {
			last, since = n, time.Now()
		}
	}
}

// interrupt stops it like Ctrl-C.
func (o *ours) interrupt(t *testing.T) {
	t.Helper()
	if err := o.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-o.done:
		if err != nil {
			t.Errorf("after an interrupt it exited with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it did not exit after an interrupt")
	}
}
