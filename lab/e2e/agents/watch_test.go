//go:build e2e

package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Names of the agent's processes.
const agentName = "plumbline-agent"

var childs = []string{"plumbline-probe", "plumbline-asks"}

const (
	maxRSS  = 100 << 20
	maxMore = 10 // open files and threads, compared with the first sample
)

// A look is a sample of one node.
type look struct {
	at     time.Time
	agents []lab.Process
	probes []lab.Process
}

type watch struct {
	l                      *lab.Lab
	looks                  [3][]look
	killed, back, replaced int
}

// kill kills the agents in turn. The kubelet delays the restart of one that exits
// repeatedly: every third time, and if there is none, the pod is replaced too.
func (w *watch) kill(ctx context.Context, t *testing.T) {
	for i := 0; wait(ctx, killEvery); i++ {
		n, err := w.l.Node(ctx, 1+i%len(w.looks))
		if err != nil {
			t.Logf("kill: %v", err)
			continue
		}
		all, err := n.Processes(agentName)
		if err != nil {
			t.Logf("kill: %v", err)
			continue
		}
		for _, p := range all {
			if _, err := n.Exec(ctx, "kill", "-9", strconv.Itoa(p.PID)); err == nil {
				w.killed++
			}
		}
		if len(all) == 0 {
			w.back++
		} else if i/len(w.looks)%3 != 2 {
			continue
		}
		if err := w.renew(ctx, n.Name); err != nil {
			t.Logf("a new pod on %s: %v", n.Name, err)
			continue
		}
		w.replaced++
	}
}

func (w *watch) renew(ctx context.Context, node string) error {
	pods, err := w.l.Pods(ctx, lab.AgentNamespace, "app.kubernetes.io/component=agent")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(pods, func(p lab.Pod) bool { return p.Spec.NodeName == node })
	if i < 0 {
		return errors.New("the node has no agent")
	}
	_, err = w.l.Kubectl(ctx, "-n", lab.AgentNamespace, "delete", "pod", pods[i].Metadata.Name, "--wait=false")
	return err
}

// wait returns whether there is time left.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (w *watch) follow(ctx context.Context, t *testing.T) {
	for wait(ctx, sampleEvery) {
		w.sample(t)
	}
}

// sample reads the state of every node.
func (w *watch) sample(t *testing.T) {
	t.Helper()
	var said strings.Builder
	for i := range w.looks {
		n, err := w.l.Node(t.Context(), i+1)
		if err != nil {
			t.Errorf("sample: %v", err)
			return
		}
		v := look{at: time.Now()}
		var e1, e2 error
		v.agents, e1 = n.Processes(agentName)
		v.probes, e2 = n.Processes(childs...)
		if e1 != nil || e2 != nil {
			t.Errorf("sample: %v, %v", e1, e2)
			return
		}
		w.looks[i] = append(w.looks[i], v)
		fmt.Fprintf(&said, "; %s: %d agents, %d probes", n.Name, len(v.agents), len(v.probes))
		for _, p := range v.agents {
			fmt.Fprintf(&said, ", %d files, %d threads, %.1f MB", p.Files, p.Threads, float64(p.RSS)/(1<<20))
		}
	}
	b, _ := os.ReadFile("/proc/loadavg")
	t.Logf("load %.4s%s", b, said.String())
}

// judge compares the last sample with the first and all of them with the limit.
func (w *watch) judge(t *testing.T) {
	t.Helper()
	t.Logf("%d agents killed; %d times the kubelet delayed one, %d pods replaced", w.killed, w.back, w.replaced)
	for i, looks := range w.looks {
		name := fmt.Sprintf("node%d", i+1)
		var most lab.Process
		probes, held := 0, 0
		for _, v := range looks {
			probes = max(probes, len(v.probes))
			for _, p := range v.agents {
				most.RSS, most.Files, most.Threads = max(most.RSS, p.RSS), max(most.Files, p.Files), max(most.Threads, p.Threads)
				held = max(held, p.NetNS)
			}
		}
		first, last := looks[0], looks[len(looks)-1]
		if len(first.agents) != 1 || len(last.agents) != 1 {
			t.Errorf("%s: %d agents at first, %d at the end", name, len(first.agents), len(last.agents))
			continue
		}
		a, b := first.agents[0], last.agents[0]
		t.Logf("%s: %d samples; files %d, then %d (most %d); threads %d, then %d (most %d); %.1f MB, then %.1f (most %.1f); at most %d probes, %d namespaces open at once",
			name, len(looks), a.Files, b.Files, most.Files, a.Threads, b.Threads, most.Threads, mb(a), mb(b), mb(most), probes, held)
		if b.Files > a.Files+maxMore || b.Threads > a.Threads+maxMore || most.RSS > maxRSS {
			t.Errorf("%s: %+v at first, %+v at the end, at most %+v", name, a, b, most)
		}
	}
}

func mb(p lab.Process) float64 { return float64(p.RSS) / (1 << 20) }

// leftovers: no child of an agent may remain, and no namespace without a pod.
func (w *watch) leftovers(t *testing.T) {
	t.Helper()
	pods, err := w.l.Pods(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range w.looks {
		n, err := w.l.Node(t.Context(), i+1)
		if err != nil {
			t.Fatal(err)
		}
		w.lasting(t, n)
		spaces, err := os.ReadDir(n.Path("/run/netns"))
		if err != nil {
			t.Fatal(err)
		}
		own := 0
		for _, p := range pods {
			if p.Spec.NodeName == n.Name && !p.Spec.HostNetwork {
				own++
			}
		}
		t.Logf("%s: %d network namespaces, %d pods with one", n.Name, len(spaces), own)
		if len(spaces) != own {
			t.Errorf("%s: %d network namespaces for %d pods", n.Name, len(spaces), own)
		}
	}
}

// lasting samples a few times: a probe exists for a moment, and a read holds a namespace
// for a moment.
func (w *watch) lasting(t *testing.T, n *lab.Node) {
	t.Helper()
	seen, held := map[int]int{}, 0
	const looks = 4
	for range looks {
		probes, err := n.Processes(childs...)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range probes {
			seen[p.PID]++
		}
		agents, err := n.Processes(agentName)
		if err != nil {
			t.Fatal(err)
		}
		if len(agents) == 1 && agents[0].NetNS > 0 {
			held++
		}
		time.Sleep(2 * time.Second)
	}
	for pid, times := range seen {
		if times == looks {
			t.Errorf("%s: the probe %d remains", n.Name, pid)
		}
	}
	if held == looks {
		t.Errorf("%s: the agent holds network namespaces", n.Name)
	}
}

// answers: every agent reports complete state of its node.
func (w *watch) answers(t *testing.T, within time.Duration) {
	t.Helper()
	for i := range w.looks {
		began := time.Now()
		err := lab.Eventually(t.Context(), within, func(ctx context.Context) error {
			n, err := w.l.Node(ctx, i+1)
			if err != nil {
				return err
			}
			out, err := n.Exec(ctx, "curl", "-fsS", "--max-time", "5", "--unix-socket", "/run/plumbline/agent.sock", "http://node/v1/digest")
			if err != nil {
				return err
			}
			var d struct {
				Node string
				Not  map[string]string
			}
			if err := json.Unmarshal([]byte(out), &d); err != nil {
				return err
			}
			return stage.Expect(d.Node == n.Name && len(d.Not) == 0, "complete node state of %s, got %s", n.Name, out)
		})
		if err != nil {
			t.Errorf("node%d: %v", i+1, err)
		}
		t.Logf("node%d's agent answered after %s", i+1, time.Since(began).Round(100*time.Millisecond))
	}
}
