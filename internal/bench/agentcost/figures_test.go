//go:build e2e

package agentcost

import (
	"flag"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
)

func TestMain(m *testing.M) { lab.Main(m) }

var (
	binary  = flag.String("agent", "../../../bin/plumbline-agent", "the agent to measure")
	crowd   = flag.Int("pods", 250, "how many pods run on the node")
	changes = flag.Int("changes", 40, "how many times each kind of change is made")
	rest    = flag.Duration("rest", time.Minute, "how long CPU is measured when idle and under churn")
)

// Limits of the agent.
const (
	maxRSS  = 150 << 20
	maxCPU  = 5.0 // percent of one core, when idle
	maxLate = 200 * time.Millisecond
)

// TestLabFigures fills a node with pods and prints the figures of its agent.
func TestLabFigures(t *testing.T) {
	l := lab.Start(t, lab.Config{Nodes: 1})
	r := &report{}
	defer func() { t.Log(r.String()) }()
	s := fill(t, l, r)
	bareRest := quiet(t, s, nil)
	s.install(t, r)
	s.memory(t, r)
	s.answers(t, r)
	s.atRest(t, r, bareRest)
	s.churn(t, r)
	s.watched(t, r)
	s.latency(t, r)
	s.flood(t, r)
}
