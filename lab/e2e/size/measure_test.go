//go:build e2e

package size

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
)

// figures are the cost of one process and of the servers that it read.
type figures struct {
	What    string          `json:"what"`
	Wall    float64         `json:"wall"` // seconds
	CPU     float64         `json:"cpu"`  // seconds
	Peak    int64           `json:"peak"` // bytes, VmHWM
	Bytes   int64           `json:"bytes,omitempty"`
	Servers map[string]cost `json:"servers,omitempty"`
	Each    []figures       `json:"each,omitempty"` // if it was measured several times
	Note    string          `json:"note,omitempty"`
}

// A cost is what a server spent on a process: CPU time, and the largest growth of its
// memory.
type cost struct {
	CPU    float64 `json:"cpu"`
	Memory int64   `json:"memory"`
}

// measure runs a command and returns its cost and output. The peak is read while it
// runs: the one that the kernel returns at the end includes the process that started it.
func (b *bench) measure(what string, cmd *exec.Cmd) (f figures, stdout string) {
	b.t.Helper()
	b.calm()
	var text, diag strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &diag
	sent, before := map[string]int64{}, map[string]lab.Process{}
	for name, w := range b.watched {
		sent[name] = w.sent(b.t)
		if err := forgetPeak(w.pid); err != nil {
			b.t.Fatal(err)
		}
		before[name] = b.use(w.pid)
	}
	profiled := b.profile(what)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	f.What = what
	done, peak := make(chan struct{}), make(chan int64)
	go func() { peak <- peakUntil(cmd.Process.Pid, done) }()
	err := cmd.Wait()
	f.Wall = time.Since(start).Seconds()
	close(done)
	f.Peak = <-peak
	profiled()
	f.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	f.Servers = map[string]cost{}
	for name, w := range b.watched {
		now := b.use(w.pid)
		f.Servers[name] = cost{CPU: (now.CPU - before[name].CPU).Seconds(), Memory: max(0, now.Peak-before[name].RSS)}
		f.Bytes += w.sent(b.t) - sent[name]
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatalf("%s: %v", what, err)
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		f.Note = "exit " + cmd.ProcessState.String()[len("exit status "):]
		if !cmd.ProcessState.Exited() || code == 2 {
			f.Note = cmd.ProcessState.String() + ": " + last(diag.String(), 300)
		}
	}
	b.t.Logf("%-26s %7.2f s %7.2f s CPU %6d MB %6.1f MB read, API server %6.2f s CPU %+5d MB %s", what, f.Wall, f.CPU, f.Peak>>20, float64(f.Bytes)/(1<<20), f.Servers[toAPI].CPU, f.Servers[toAPI].Memory>>20, f.Note)
	return f, text.String()
}

func last(s string, n int) string { return s[max(0, len(s)-n):] }

func (b *bench) use(pid int) lab.Process {
	u, err := lab.ProcessOf(pid)
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

// peakUntil reads the largest size of a process until it exits.
func peakUntil(pid int, done <-chan struct{}) (peak int64) {
	every := time.NewTicker(5 * time.Millisecond)
	defer every.Stop()
	for {
		if u, err := lab.ProcessOf(pid); err == nil {
			peak = max(peak, u.Peak)
		}
		select {
		case <-done:
			return peak
		case <-every.C:
		}
	}
}

// calm makes the API server collect its garbage and waits until the servers are idle.
// Otherwise a collection, which takes as long as a list, would always fall into the same
// rows.
func (b *bench) calm() {
	if err := b.watched[toAPI].collect(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	const look = 500 * time.Millisecond
	total := func() (d time.Duration) {
		for _, w := range b.watched {
			d += b.use(w.pid).CPU
		}
		return d
	}
	for range 120 {
		before := total()
		time.Sleep(look)
		if total()-before < look/5 {
			return
		}
	}
	b.t.Log("the servers do not become idle")
}

// keepSmall makes the API server collect its garbage whenever it has grown by much.
func (b *bench) keepSmall(ctx context.Context) {
	const much = 1 << 30
	api := b.watched[toAPI]
	before := int64(0)
	for ctx.Err() == nil {
		if u, err := lab.ProcessOf(api.pid); err == nil && u.RSS > before+much {
			_ = api.collect(ctx) // frozen, or the test is done
			if u, err = lab.ProcessOf(api.pid); err == nil {
				before = u.RSS
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// collect makes a server collect its garbage, which takes seconds if it is large.
func (w *watched) collect(ctx context.Context) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(w.url, "/metrics")+"/debug/pprof/heap?gc=1", nil)
	if err != nil {
		return err
	}
	resp, err := w.http.Do(q)
	if err != nil {
		return fmt.Errorf("collect the API server's garbage: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
