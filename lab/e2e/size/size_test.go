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

// TestMain is also the main of the processes that are measured beside check.
func TestMain(m *testing.M) {
	if play, ok := roles[os.Getenv(roleEnv)]; ok {
		os.Exit(act(play))
	}
	lab.Main(m)
}

var (
	pods    = flag.String("pods", strconv.Itoa(gateSize), "how many pods to load, one cluster after the other")
	modes   = flag.String("modes", "kdd,etcd", "which datastores")
	repeats = flag.Int("repeats", 3, "how often check and the bare download are measured, in turn")
	binary  = flag.String("binary", "", "which plumbline; if empty, what make build has made")
	alone   = flag.Bool("alone", false, "leave out calicoctl and client-go, which take long")
	out     = flag.String("out", "", "write the figures into this file, beside those of other sizes that it has")
	judged  = flag.String("judged", "", "take in the figures of model and detectors alone, which internal/audit has written there")
	into    = flag.String("profiles", "", "write CPU profiles of the API server into this directory, one of the first seconds of each row")
	docs    = flag.Bool("write-docs", false, "write the table and the plot of docs/performance.md anew, from all figures")
)

// podsPerNode is what the loader puts on each node.
const podsPerNode = 30

// TestSize loads clusters, proves that check finds the loaded faults by name and nothing
// else, and tells what that took, and what others take. Of a cluster as small as the
// gate's, it is held against what it once took.
func TestSize(t *testing.T) {
	var all book
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
