//go:build e2e

package size

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab"
)

// TestMain is also the main of the processes that are compared with check.
func TestMain(m *testing.M) {
	if play, ok := roles[os.Getenv(roleEnv)]; ok {
		os.Exit(act(play))
	}
	lab.Main(m)
}

var (
	pods    = flag.String("pods", strconv.Itoa(gateSize), "how many pods to load, one cluster after the other")
	modes   = flag.String("modes", "kdd,etcd", "comma-separated datastores")
	repeats = flag.Int("repeats", 3, "how often check and the bare download are measured, in turn")
	binary  = flag.String("binary", "", "path of plumbline; if empty, bin/plumbline")
	alone   = flag.Bool("alone", false, "omit calicoctl and client-go, which take long")
	out     = flag.String("out", "", "add the figures to those of other sizes in this file")
	judged  = flag.String("judged", "", "read the figures of model and detectors alone, which internal/audit has written to this file")
	into    = flag.String("profiles", "", "write CPU profiles of the API server into this directory, one of the first seconds of each row")
	docs    = flag.Bool("write-docs", false, "rewrite the tables and the plot of docs/performance.md, from all figures")
)

// podsPerNode is the number of pods that the loader creates on each node.
const podsPerNode = 30

// TestSize loads clusters, tests that check reports the loaded faults by name and
// nothing else, and measures its cost and that of other programs. At the size used in
// CI, it compares the cost with fixed limits.
func TestSize(t *testing.T) {
	var all results
	if err := all.read(*out, *judged); err != nil {
		t.Fatal(err)
	}
	for _, mode := range strings.Split(*modes, ",") {
		for _, text := range strings.FieldsFunc(*pods, func(r rune) bool { return r == ',' }) {
			n, err := strconv.Atoi(text)
			if err != nil || n < podsPerNode {
				t.Fatalf("%q: want a number of pods", text)
			}
			t.Run(mode+"/"+text, func(t *testing.T) {
				b := run(t, lab.Datastore(mode), (n+podsPerNode-1)/podsPerNode)
				all.add(b.cluster)
				t.Logf("\n%s", b.table())
				if n <= gateSize {
					b.guard()
				}
				if err := all.write(*out); err != nil {
					t.Error(err)
				}
			})
		}
	}
	t.Logf("\n%s", all.growth())
	if *docs {
		if err := all.document("../../../docs"); err != nil {
			t.Error(err)
		}
	}
}

// run measures one cluster.
func run(t *testing.T, d lab.Datastore, nodes int) *bench {
	t.Helper()
	b := newBench(t, lab.Start(t, lab.Config{ControlPlaneOnly: true, Datastore: d}))
	b.fill(nodes)
	b.record()
	b.ours()
	b.prove()
	if !*alone {
		b.others()
	}
	return b
}
