//go:build e2e

package rebuild

import (
	"flag"
	"path/filepath"
	"testing"

	"plumbline.dev/plumbline/lab"
)

func TestMain(m *testing.M) { lab.Main(m) }

var (
	binary  = flag.String("plumbline", "../../../bin/plumbline", "the program to measure")
	nodes   = flag.Int("nodes", 50, "how many nodes, each with one block")
	silent  = flag.Int("silent", 2, "how many of them do not answer during plan and apply")
	crooked = flag.Int("crooked", 4, "how many blocks are inconsistent")
	seed    = flag.Uint64("seed", 1, "seed that selects the affected pods")
)

// TestLabRebuildAtSize breaks all IPAM blocks of a healthy cluster, makes some agents
// not answer, and rebuilds the rest from running pods.
func TestLabRebuildAtSize(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true})
	r := &report{}
	defer func() { t.Log(r.String()) }()
	c := fill(t, l, r)
	c.staff(t, r)
	c.healthy(t, r)
	before := c.wreck(t, r)
	c.silence()

	c.run(t, r, "check", "--settle=1s", "--wait", "-o", "json")
	first := c.plan(t, r, "first.json")
	first.judge(t, r, c)

	rates := c.watch(t)
	got := c.run(t, r, "apply", "-f", filepath.Join(c.state, "first.json"))
	if got.exit != 0 {
		t.Errorf("apply: exit %d\n%.6000s", got.exit, got.text)
	}
	rates.judge(t, r, got.took)
	c.judge(t, before, first, c.read(t))

	if p := c.plan(t, r, "second.json"); len(p.Steps) > 0 {
		t.Errorf("a second plan has %d steps, the first of them %s %s", len(p.Steps), p.Steps[0].Do, p.Steps[0].On)
	} else {
		p.refusedOnly(t, c)
	}
}
