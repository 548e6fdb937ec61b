//go:build e2e

package agents

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
)

func TestMain(m *testing.M) { lab.Main(m) }

var (
	binary   = flag.String("plumbline", "../../../bin/plumbline", "the program to measure")
	manifest = flag.String("manifest", "../../../deploy/repair.yaml", "the manifest that installs the agents")
	nodes    = flag.Int("nodes", 400, "how many nodes, each with an agent")
	pods     = flag.Int("pods", 30, "how many pods on each")
	lookUp   = flag.Duration("look-up", 3*time.Second, "limit for finding something on all nodes by its name; 0: no limit")
	bound    = flag.Duration("bound", 30*time.Second, "limit for a check with some hanging and some slow agents; 0: no limit")
)

// TestLabAgentsAtSize: check reads all agents that answer, although others hang or are
// slow, and however slow the API server is.
func TestLabAgentsAtSize(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true})
	r := &report{}
	defer func() { t.Log(r.String()) }()
	c := fill(t, l, r)
	c.staff(t, r)

	// The best case, compared with a download of the same bodies.
	bare := c.bare(t, r)
	whole := c.check(t, r, "check, all answer")
	whole.only(t, nil)
	r.add("ratio", fmt.Sprintf("%.2f", whole.agents.Seconds()/bare.Seconds()), "agents read by check, compared with the bare requests")

	for _, kind := range []string{"device", "mac", "sandbox", "pid", "handle"} {
		took := c.find(t, r, kind)
		if *lookUp > 0 && took > *lookUp {
			t.Errorf("explain %s took %s", kind, took)
		}
	}

	// The API server does not answer for a while, twice: no agent may be reported as
	// missing.
	stop := c.stalls(t, 7*time.Second)
	stalled := c.check(t, r, "check, the API server stalls")
	r.add("stalls", fmt.Sprint(stop()), "of 7 s each")
	stalled.only(t, nil)

	// One agent of a hundred hangs, and one takes 10 s.
	silent := c.trouble()
	some := c.check(t, r, "check, 1 % hang, 1 % slow")
	some.only(t, silent)
	if *bound > 0 && some.took > *bound {
		t.Errorf("took %s", some.took)
	}
	c.check(t, r, "the same, --gentle", "--gentle").only(t, silent)
}
