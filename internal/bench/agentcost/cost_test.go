//go:build e2e

package agentcost

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"
)

// used is CPU time in percent of one core.
type used map[string]float64

// quiet measures programs of the node for a while, during which f runs.
func quiet(t *testing.T, s *lookup, f func(end time.Time), names ...string) used {
	t.Helper()
	names = append(names, "containerd", "kubelet")
	before, began := map[string]time.Duration{}, time.Now()
	for _, n := range names {
		before[n] = s.one(t, n).CPU
	}
	if end := began.Add(*rest); f != nil {
		f(end)
	} else {
		time.Sleep(time.Until(end))
	}
	out := used{}
	for _, n := range names {
		out[n] = 100 * float64(s.one(t, n).CPU-before[n]) / float64(time.Since(began))
	}
	return out
}

func percent(v float64) string { return fmt.Sprintf("%.2f %%", v) }

// beside compares a share of a core with bare calls.
func (s *lookup) beside(t *testing.T, r *report, share float64) {
	t.Helper()
	dumped := measure(t, 5, func() (int, error) { return dump(s.node) })
	listed := measure(t, 20, lister(t, s.node))
	minute := time.Duration(share / 100 * float64(time.Minute))
	r.add("  one dump of all namespaces' links, addresses, routes, neighbours", "", dumped.String())
	r.add("  one list of the runtime's sandboxes and containers", "", listed.String())
	// When idle, the agent reads the kernel once a minute and the runtime every five
	// seconds.
	same := dumped.cpu + 12*listed.cpu
	r.add("  a minute idle, compared with 1 dump and 12 lists", short(minute)+" CPU", fmt.Sprintf("%s CPU: ratio %.1f", short(same), float64(minute)/float64(same)))
	r.add("  bare calls per minute at the same cost", "", fmt.Sprintf("%.0f dumps or %.0f lists", float64(minute)/float64(dumped.cpu), float64(minute)/float64(listed.cpu)))
}

// atRest measures the agent while nothing changes and nobody sends requests.
func (s *lookup) atRest(t *testing.T, r *report, without used) {
	t.Helper()
	u := quiet(t, s, nil, "plumbline-agent")
	r.add("CPU when idle, of one core", percent(u["plumbline-agent"]), "")
	s.beside(t, r, u["plumbline-agent"])
	for _, n := range []string{"containerd", "kubelet"} {
		r.add("CPU of "+n+" when idle, with and without the agent", percent(u[n]), percent(without[n]))
	}
	if u["plumbline-agent"] > maxCPU {
		t.Errorf("the agent uses %s of a core when idle", percent(u["plumbline-agent"]))
	}
}

// churn measures the agent while one pod per second is replaced.
func (s *lookup) churn(t *testing.T, r *report) {
	t.Helper()
	n := 0
	u := quiet(t, s, func(end time.Time) {
		for time.Now().Before(end) {
			began := time.Now()
			pods, err := s.Pods(t.Context(), "default", "app=crowd")
			if err != nil || len(pods) == 0 {
				t.Fatalf("%d pods, %v", len(pods), err)
			}
			p := pods[rand.IntN(len(pods))]
			if _, err := s.Do(t.Context(), http.MethodDelete, "/api/v1/namespaces/default/pods/"+p.Metadata.Name, ""); err != nil {
				t.Logf("delete: %v", err) // another delete of the same pod was first
			} else {
				n++
			}
			time.Sleep(time.Second - time.Since(began))
		}
	}, "plumbline-agent")
	each := time.Duration(u["plumbline-agent"] / 100 * float64(*rest) / float64(max(n, 1)))
	r.add(fmt.Sprintf("CPU while %d pods are replaced in %s", n, *rest), fmt.Sprintf("%s, %s for each", percent(u["plumbline-agent"]), short(each)),
		fmt.Sprintf("containerd %s, kubelet %s", percent(u["containerd"]), percent(u["kubelet"])))
	s.allReady(t)
	p := s.process(t)
	r.add("memory afterwards", fmt.Sprintf("RSS %s, peak %s, %d files", megabytes(p.RSS), megabytes(p.Peak), p.Files), "")
	if p.Peak > maxRSS {
		t.Errorf("the agent's peak memory is %s", megabytes(p.Peak))
	}
}
