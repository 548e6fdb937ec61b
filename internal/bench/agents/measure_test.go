//go:build e2e

package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// bare fetches all bodies through the proxy with a token that no agent has reviewed, and
// discards them.
func (c *cluster) bare(t *testing.T, r *report) time.Duration {
	t.Helper()
	caller := agent.NewCaller()
	token, err := c.Kubectl(t.Context(), "-n", lab.AgentNamespace, "create", "token", "plumbline-reader", "--audience="+caller.Audience())
	if err != nil {
		t.Fatal(err)
	}
	token = strings.TrimSpace(token)
	var bytes, twice atomic.Int64
	cost, began := c.cost(t), time.Now()
	c.each(t, 64, func(ctx context.Context, h *host) error {
		at := fmt.Sprintf("%s%s/https:%s:%d/proxy/%s", c.config.Host, podPath, h.agent.Name, agent.Port, agent.PathTables)
		head := caller.Headers(token, h.name, http.MethodGet, agent.PathTables, nil, nil)
		n, err := c.fetch(ctx, at, head)
		for try := 1; err != nil && try < 5; try++ { // so many in parallel can be too much for it
			twice.Add(1)
			n, err = c.fetch(ctx, at, head)
		}
		bytes.Add(n)
		return err
	})
	took := time.Since(began)
	r.add("bare requests, 64 in parallel", short(took), fmt.Sprintf("%d kB, %d retried; %s; load %s", bytes.Load()>>10, twice.Load(), cost(), load1()))
	return took
}

func (c *cluster) fetch(ctx context.Context, at string, head http.Header) (int64, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return 0, err
	}
	q.Header = head
	resp, err := c.http.Do(q)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	n, err := io.Copy(io.Discard, resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("read %s: %s", at, resp.Status)
	}
	return n, err
}

// A result is the output and cost of a check.
type result struct {
	report       stage.Report
	took, agents time.Duration
}

var agentsTook = regexp.MustCompile(`read agents +[0-9,]+ rows in ([0-9a-zµ.]+)`)

// check runs the program as a user would.
func (c *cluster) check(t *testing.T, r *report, what string, args ...string) result {
	t.Helper()
	bin, err := filepath.Abs(*binary)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	cmd := stage.Command(ctx, c.Lab, bin, c.state, append([]string{"check", "-o", "json", "-v", "--settle=1s"}, args...)...)
	var out, diag strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &diag
	cost, began := c.cost(t), time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	peak := highWater(cmd.Process.Pid)
	err = cmd.Wait()
	got := result{took: time.Since(began)}
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 2) {
		t.Fatalf("check: %v: %s", err, diag.String())
	}
	if err := json.Unmarshal([]byte(out.String()), &got.report); err != nil {
		t.Fatal(err)
	}
	if m := agentsTook.FindStringSubmatch(diag.String()); m != nil {
		got.agents, _ = time.ParseDuration(m[1])
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	r.add(what, short(got.took), fmt.Sprintf("agents in %s, %s CPU, %d MB; %s; load %s", short(got.agents), short(cpu), peak()>>20, cost(), load1()))
	t.Logf("%s\n%s", what, diag.String())
	return got
}

// only requires that exactly these nodes are not covered, and that there are no other
// findings.
func (got result) only(t *testing.T, silent []string) {
	t.Helper()
	var want []string
	for _, n := range silent {
		want = append(want, "PL9001/"+n)
	}
	slices.Sort(want)
	if names := got.report.Names(); !slices.Equal(names, want) {
		t.Errorf("%d findings: %.40q, want %d: %.40q", len(names), first(names, want), len(want), first(want, names))
		reasons := map[string]int{}
		for _, n := range got.report.NotChecked {
			reasons[n.Reason]++
		}
		for why, n := range reasons {
			t.Log(n, why)
		}
	}
}

// first returns the first few that the others do not have.
func first(some, others []string) (out []string) {
	for _, n := range some {
		if !slices.Contains(others, n) && len(out) < 5 {
			out = append(out, n)
		}
	}
	return out
}

// stalls freezes the API server for a while, repeatedly, until it is stopped; it returns
// how often.
func (c *cluster) stalls(t *testing.T, length time.Duration) (stop func() int) {
	t.Helper()
	end, told := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-end:
				told <- n
				return
			case <-time.After(time.Second):
			}
			if err := errors.Join(c.FreezeAPIServer(t.Context()), sleep(t.Context(), length), c.ThawAPIServer(context.WithoutCancel(t.Context()))); err != nil {
				t.Errorf("stall the API server: %v", err)
			}
			_ = sleep(t.Context(), 3*time.Second)
		}
	}()
	return func() int { close(end); return <-told }
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
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
	one, _, _ := strings.Cut(string(b), " ")
	return one
}
