//go:build e2e

package size

import (
	"slices"
	"testing"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/load"
	"plumbline.dev/plumbline/lab/stage"
)

// faultsOf returns what is loaded: a fault of every kind that Kubernetes and the Calico
// datastore can show.
func faultsOf(d lab.Datastore) load.Faults {
	f := load.Faults{
		load.Leaked: 20, load.Unallocated: 10, load.OrphanHandle: 20, load.MiscountedHandle: 10, load.MissingHandle: 10, load.NoAnnotation: 10,
		load.SharedAddress: 5, load.WrongNode: 10, load.GoneNodeAffinity: 10, load.BadIndex: 1, load.Finished: 100,
	}
	if d == lab.Etcd {
		f[load.StaleEndpoint] = 20
	}
	return f
}

// wanted returns the findings that the faults must become, each once.
func wanted(faults []load.Fault) (want []string) {
	for _, f := range faults {
		want = append(want, stage.NamesOf(f)...)
	}
	slices.Sort(want)
	return slices.Compact(want)
}

// compare compares the findings with the loaded faults, by name.
func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	for _, n := range want {
		if !slices.Contains(got, n) {
			t.Errorf("%s: not reported: %s", what, n)
		}
	}
	for _, n := range got {
		if !slices.Contains(want, n) {
			t.Errorf("%s: reported but not loaded: %s", what, n)
		}
	}
	t.Logf("%s: %d findings, %d loaded", what, len(got), len(want))
}
