//go:build e2e

package agents

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/agent/server"
	"plumbline.dev/plumbline/internal/kube/review"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/lab"
)

var (
	controller = flag.String("controller", "../../../bin/plumbline-controller", "the controller to measure")
	crds       = flag.String("crds", "../../../charts/plumbline/files/crds", "the objects that it writes")
	rate       = flag.Int("rate", 700, "rows that change on the nodes each second")
	limit      = flag.Int64("limit", 2<<30, "the controller's memory limit, as the chart has it")
	objects    = flag.Int("objects", 300, "pods that are written each second, through etcd")
	phase      = flag.Duration("phase", time.Minute, "how long each phase lasts")
)

const metricsAt = "127.0.0.1:18081"

// TestLabWatchAtSize: the controller watches all agents directly. The agents are the real server, one for
// each node, in this process; each has a listener with its own certificate, and publishes it in its
// Lease. Only what is read is made up.
func TestLabWatchAtSize(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true})
	r := &report{}
	defer func() { t.Log(r.String()) }()
	c := fill(t, l, r)
	c.staffServers(t, r)
	files, err := filepath.Glob(*crds + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if out, err := c.Kubectl(t.Context(), "apply", "-f", f); err != nil {
			t.Fatal(out, err)
		}
	}
	began := time.Now()
	cost := c.cost(t)
	cmd := exec.CommandContext(t.Context(), *controller, "--kubeconfig", c.Kubeconfig(), "--namespace", lab.AgentNamespace, "--name", "c0", "--probes", metricsAt, "--serve", "", "--settle", settles.String())
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMEMLIMIT=%d", *limit/100*85)) // as in a container with that limit
	var said tail
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the controller said:\n%s", said.b)
		}
	}()
	await := func(what, metric string, want float64) {
		t.Helper()
		if err := lab.Eventually(t.Context(), 10*time.Minute, func(ctx context.Context) error {
			if got, err := number(ctx, metric); err != nil || got != want {
				return fmt.Errorf("%s is %v, want %v: %w", metric, got, want, err)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		r.add(what, short(time.Since(began)), fmt.Sprintf("%s CPU, %d MB; %s; load %s", short(cpuOf(t, cmd.Process.Pid)), memoryOf(cmd.Process.Pid, "VmHWM:")>>20, cost(), load1()))
	}
	await("all agents watched, and judged", `plumbline_agents{state="watched"}`, float64(len(c.hosts)))
	during := func(what string) {
		t.Helper()
		cost, cpu, began, judged := c.cost(t), cpuOf(t, cmd.Process.Pid), time.Now(), judgements(t)
		if err := sleep(t.Context(), *phase); err != nil {
			t.Fatal(err)
		}
		spent, took := cpuOf(t, cmd.Process.Pid)-cpu, time.Since(began)
		lag, _ := number(t.Context(), "plumbline_agent_event_lag_seconds")
		r.add(what, fmt.Sprintf("%.2f cores", spent.Seconds()/took.Seconds()), fmt.Sprintf("%d MB now, %d MB at most; %s; longest silence %.0f s; %s; load %s",
			memoryOf(cmd.Process.Pid, "VmRSS:")>>20, memoryOf(cmd.Process.Pid, "VmHWM:")>>20, judgements(t).since(judged), lag, cost(), load1()))
	}
	during("nothing changes")
	began, stop, end := time.Now(), c.changes(t), c.rewrites(t, *objects)
	during(fmt.Sprintf("%d rows change and %d pods are written each second", *rate, *objects))
	c.faults(t, r)
	took := time.Since(began).Seconds()
	r.add("changes made", fmt.Sprintf("%.0f rows, %.0f pods a second", float64(stop())/took, float64(end())/took), "")
	for _, h := range c.hosts {
		h.end() // all connections end
	}
	again := time.Now()
	c.each(t, 64, func(ctx context.Context, h *host) error { return h.listen(ctx) })
	began, cost = again, c.cost(t)
	if err := sleep(t.Context(), 5*time.Second); err != nil {
		t.Fatal(err)
	}
	await("all agents watched again after all connections ended", `plumbline_agents{state="watched"}`, float64(len(c.hosts)))
	if peak := memoryOf(cmd.Process.Pid, "VmHWM:"); peak > *limit {
		t.Errorf("the controller took %d MB", peak>>20)
	}
	bad, err := number(t.Context(), `plumbline_findings{code="PL9001",severity="info",state="Confirmed"}`)
	t.Logf("PL9001: %v, %v", bad, err)
}

// A tail keeps the last of what is written to it.
type tail struct{ b []byte }

func (w *tail) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	w.b = w.b[max(0, len(w.b)-8<<10):]
	return len(p), nil
}

// number reads a metric of the controller.
func number(ctx context.Context, name string) (float64, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+metricsAt+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindSubmatch(b)
	if err != nil || m == nil {
		return 0, fmt.Errorf("no %s: %w", name, err)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}

// judgedAll is how often the whole cluster was judged, and how long that took.
type judgedAll struct{ times, seconds float64 }

func judgements(t *testing.T) (j judgedAll) {
	t.Helper()
	var err error
	if j.times, err = number(t.Context(), "plumbline_judge_seconds_count"); err != nil {
		t.Fatal(err)
	}
	if j.seconds, err = number(t.Context(), "plumbline_judge_seconds_sum"); err != nil {
		t.Fatal(err)
	}
	return j
}

func (j judgedAll) since(before judgedAll) string {
	n, took := j.times-before.times, j.seconds-before.seconds
	return fmt.Sprintf("%.0f judgements of %.1f s", n, took/max(n, 1))
}

// A seatOf is the agent of a host: the real server, and what it reads.
type seatOf struct {
	*server.Server
	mu      sync.Mutex
	state   *model.NodeState
	changed func(...model.Table)
	end     context.CancelFunc
}

// staffServers gives every node an agent.
func (c *cluster) staffServers(t *testing.T, r *report) {
	t.Helper()
	began := time.Now()
	c.install(t)
	reviewer := c.reviewer(t)
	c.each(t, 8, func(ctx context.Context, h *host) error {
		if err := c.agentPod(ctx, h); err != nil {
			return err
		}
		h.state = h.nodeState()
		h.pods = nil
		return h.serveReal(t.Context(), c, reviewer)
	})
	r.add("agents", short(time.Since(began)), fmt.Sprint(len(c.hosts)))
}

// serveReal starts the agent of a host.
func (h *host) serveReal(ctx context.Context, c *cluster, reviewer *review.Reviewer) error {
	h.real = &seatOf{state: h.state}
	h.real.Server = server.New(server.Config{
		Node: h.name, Version: "bench", Review: reviewer, Lease: &leaseOf{c: c, node: h.name}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Collectors: []observe.NodeCollector{{Name: "all", Tables: model.FactTables(), Read: func(_ context.Context, f *model.NodeState) error {
			h.real.mu.Lock()
			defer h.real.mu.Unlock()
			*f = *h.real.state
			f.Attachments = slices.Clone(f.Attachments) // which get their sandboxes
			return nil
		}}},
		Watch: []func(context.Context, func(...model.Table)) error{func(ctx context.Context, changed func(...model.Table)) error {
			h.real.mu.Lock()
			h.real.changed = changed
			h.real.mu.Unlock()
			<-ctx.Done()
			return nil
		}},
	})
	go h.real.Run(ctx)
	return h.listen(ctx)
}

func (h *host) end() { h.real.end() }

// listen opens the agent's port.
func (h *host) listen(ctx context.Context) error {
	ctx, h.real.end = context.WithCancel(ctx)
	var l net.Listener
	var err error
	for range 50 { // it may still be open
		if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort(h.ip.String(), strconv.Itoa(agent.Port))); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		return err
	}
	go func() { _ = h.real.Listen(ctx, l) }()
	return nil
}

// changes changes interfaces of random nodes, until it is stopped; it returns how many.
func (c *cluster) changes(t *testing.T) (stop func() int) {
	t.Helper()
	end, told := make(chan struct{}), make(chan int)
	go func() {
		tick := time.NewTicker(time.Second / time.Duration(*rate))
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-end:
				told <- n
				return
			case <-tick.C:
			}
			h := c.hosts[rand.IntN(len(c.hosts))].real
			h.mu.Lock()
			next := *h.state
			next.Links = slices.Clone(next.Links)
			next.Links[len(next.Links)-1].MTU = 1400 + n%50
			h.state = &next
			changed := h.changed
			h.mu.Unlock()
			changed(model.Links)
		}
	}()
	return func() int { close(end); return <-told }
}

// A leaseOf is the Lease of an agent.
type leaseOf struct {
	c    *cluster
	node string
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/" + lab.AgentNamespace + "/leases"

func (l *leaseOf) Account() string { return "bench" }

func (l *leaseOf) Read(context.Context) (map[string]string, uint64, error) { return nil, 0, nil }

func (l *leaseOf) Write(ctx context.Context, annotations map[string]string, _ time.Time) (uint64, error) {
	name := agent.LeasePrefix + l.node
	b, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": name, "annotations": annotations}, "spec": map[string]any{"holderIdentity": l.node}})
	if err != nil {
		return 0, err
	}
	_, err = l.c.ask(ctx, http.MethodPost, leases, b)
	return 0, err
}
