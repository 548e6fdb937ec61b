//go:build e2e

package guard

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

var calls = flag.Int("calls", 20, "how many ADDs and DELs are measured each, with and without the guard")

// A way is how a call reaches Calico.
type way struct {
	name    string
	program string
	config  string
}

// TestCost compares calls through the guard with the same calls of Calico's plugin
// itself, in turn, on one node: one at a time, and twenty in parallel.
func TestCost(t *testing.T) {
	l := start(t, lab.Config{Nodes: 1, Datastore: lab.KDD, BlockSize: 24}, "enforce")
	sc := stage.Scenario{Name: "cost", Run: func(ctx context.Context, s *stage.Stage) error {
		n, err := s.Node(ctx, 1)
		if err != nil {
			return err
		}
		ways, err := waysTo(n)
		if err != nil {
			return err
		}
		if err := n.Stop(ctx, lab.Kubelet); err != nil { // only this test uses the pods
			return err
		}
		for _, width := range []int{1, 20} {
			if err := measure(ctx, s, n, ways, width); err != nil {
				return err
			}
		}
		if err := peak(ctx, s, n, ways[1], "w1-0"); err != nil {
			return err
		}
		return n.Start(ctx, lab.Kubelet)
	}}
	if err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }, Keep: true}); err != nil {
		t.Fatal(err)
	}
	n, err := l.Node(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(n.Path("/opt/cni/bin/plumbline-cni"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("plumbline-cni has %.1f MB", float64(st.Size())/(1<<20))
}

// waysTo reads the node's configuration: the guard's entry, and Calico's inside it.
func waysTo(n *lab.Node) ([]way, error) {
	b, err := os.ReadFile(n.CNIConfig())
	if err != nil {
		return nil, err
	}
	var list struct {
		Name, CNIVersion string
		Plugins          []map[string]any
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, err
	}
	guard := list.Plugins[0]
	bare, ok := guard["delegate"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the first plugin is %v", guard["type"])
	}
	var out []way
	for _, w := range []struct {
		name  string
		entry map[string]any
	}{{"bare", bare}, {"guarded", guard}} {
		w.entry["name"], w.entry["cniVersion"] = list.Name, list.CNIVersion
		text, err := json.Marshal(w.entry)
		if err != nil {
			return nil, err
		}
		out = append(out, way{w.name, fmt.Sprint("/opt/cni/bin/", w.entry["type"]), string(text)})
	}
	return out, nil
}

// took has the durations of calls, by WAY VERB.
type took struct {
	mu sync.Mutex
	by map[string][]time.Duration
}

func (k *took) add(what string, d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.by[what] = append(k.by[what], d)
}

// measure runs that many workers, which add and delete their own pod, by each way in
// turn.
func measure(ctx context.Context, s *stage.Stage, n *lab.Node, ways []way, width int) error {
	names := make([]string, width)
	for i := range names {
		names[i] = fmt.Sprintf("w%d-%d", width, i)
		if _, err := n.Exec(ctx, "ip", "netns", "add", names[i]); err != nil {
			return err
		}
	}
	if err := s.CreateUnrun(ctx, n, names); err != nil {
		return err
	}
	k := &took{by: map[string][]time.Duration{}}
	errs := make(chan error, width)
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			for round := range (*calls + width - 1) / width {
				for j := range ways {
					w := ways[(j+round+i)%len(ways)] // neither is always the first
					id := fmt.Sprintf("%08x%08x%048x", i+1, round+1, width*10+j)
					if err := addAndDelete(ctx, s, n, w, name, id, k); err != nil {
						errs <- err
						return
					}
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	tell(s, k, width)
	return all
}

func addAndDelete(ctx context.Context, s *stage.Stage, n *lab.Node, w way, pod, id string, k *took) error {
	for _, verb := range []string{"ADD", "DEL"} {
		env := []string{
			"PATH=" + os.Getenv("PATH"), "CNI_COMMAND=" + verb, "CNI_CONTAINERID=" + id, "CNI_NETNS=/run/netns/" + pod, "CNI_IFNAME=eth0", "CNI_PATH=/opt/cni/bin",
			fmt.Sprintf("CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=%s;K8S_POD_NAME=%s;K8S_POD_INFRA_CONTAINER_ID=%s", s.Namespace, pod, id),
		}
		d, out, err := inside(n, env, w.config, w.program)
		if err != nil {
			return fmt.Errorf("%s %s of %s: %w: %s", w.name, verb, pod, err, out)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		k.add(w.name+" "+verb, d)
	}
	return nil
}

// peak measures the guard's memory, while the plugin that it called runs.
func peak(ctx context.Context, s *stage.Stage, n *lab.Node, guarded way, pod string) error {
	done := make(chan error, 1)
	go func() {
		done <- addAndDelete(ctx, s, n, guarded, pod, fmt.Sprintf("%064x", 1), &took{by: map[string][]time.Duration{}})
	}()
	var most int64
	for {
		select {
		case err := <-done:
			s.Say("plumbline-cni uses at most %.1f MB of memory", float64(most)/(1<<20))
			return err
		case <-time.After(5 * time.Millisecond):
			all, err := n.Processes("plumbline-cni")
			if err != nil {
				return err
			}
			for _, p := range all {
				most = max(most, p.Peak)
			}
		}
	}
}

// tell prints how both ways compare.
func tell(s *stage.Stage, k *took, width int) {
	for _, verb := range []string{"ADD", "DEL"} {
		bare, guarded := k.by["bare "+verb], k.by["guarded "+verb]
		if len(bare) == 0 || len(guarded) == 0 {
			continue
		}
		var line strings.Builder
		for _, p := range []int{50, 99} {
			b, g := percentile(bare, p), percentile(guarded, p)
			fmt.Fprintf(&line, "; p%d %.1f -> %.1f ms, ratio %.3f", p, ms(b), ms(g), float64(g)/float64(b))
		}
		s.Say("%s, %2d at once, %d and %d calls%s", verb, width, len(bare), len(guarded), line.String())
	}
}

func percentile(all []time.Duration, p int) time.Duration {
	slices.Sort(all)
	return all[min(len(all)-1, len(all)*p/100)]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// inside runs a program on the node as the runtime does, and returns how long it took,
// without the time to enter the node.
func inside(n *lab.Node, env []string, stdin, program string) (time.Duration, string, error) {
	var d time.Duration
	var out strings.Builder
	err := onNode(n, func() error {
		cmd := exec.Command(program)
		cmd.Env, cmd.Stdin, cmd.Stdout = env, strings.NewReader(stdin), &out
		began := time.Now()
		err := cmd.Run()
		d = time.Since(began)
		return err
	})
	return d, out.String(), err
}

// spaces are the namespaces of a node that a plugin uses. The mount namespace comes
// last: the files of the others are found in the current one.
var spaces = []string{"net", "uts", "ipc", "pid", "mnt"}

func spaceOf(n *lab.Node, kind string) string {
	return filepath.Join("/proc", fmt.Sprint(n.PID), "ns", kind)
}
