// Package proven knows with which versions of Calico repairs were tested in the lab, write by
// write, and decides which other versions may be repaired. It is pure: its data are the results
// that make matrix records.
package proven

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed results.tsv
var recorded string

// A result is what one suite of the matrix did on a cluster of these versions.
type result struct {
	Calico, Kubernetes, Containerd string
	Datastore                      string // kdd or etcd
	Suite                          string
	Outcome                        string // pass, fail, or refused: what is refused, and why
	Commit, Date                   string
	Seconds                        int
}

// needed are the suites without which a version is not proven: records decoded and encoded
// without loss, repairs and their undo under the harm meter.
var needed = []string{"cluster", "decoders", "repair"}

var results = must(parseResults(recorded))

func must(all []result, err error) []result {
	if err != nil {
		panic(err) // a test parses the same file
	}
	return all
}

// parseResults reads results, one per line, of tab-separated fields. The last result of a suite counts.
func parseResults(text string) ([]result, error) {
	var all []result
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 9 {
			return nil, fmt.Errorf("%q: want 9 fields", line)
		}
		seconds, err := strconv.Atoi(f[8])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		r := result{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], seconds}
		all = slices.DeleteFunc(all, func(old result) bool { return old.cell() == r.cell() })
		all = append(all, r)
	}
	return all, nil
}

// cell is what a result is about.
func (r result) cell() [5]string {
	return [5]string{r.Calico, r.Kubernetes, r.Containerd, r.Datastore, r.Suite}
}

// Versions are the versions of Calico on which repair is proven with that datastore, newest first.
func Versions(datastore string) []string { return versionsOf(results, datastore) }

// versionsOf requires all needed suites on one cluster, and that none of them failed on another.
func versionsOf(all []result, datastore string) []string {
	passed, failed := map[[3]string]int{}, map[string]bool{}
	for _, r := range all {
		if r.Datastore != datastore || !slices.Contains(needed, r.Suite) {
			continue
		}
		if r.Outcome == "pass" {
			passed[[3]string{r.Calico, r.Kubernetes, r.Containerd}]++
		} else {
			failed[r.Calico] = true
		}
	}
	var out []string
	for row, n := range passed {
		if n == len(needed) && !failed[row[0]] && !slices.Contains(out, row[0]) {
			out = append(out, row[0])
		}
	}
	slices.SortFunc(out, func(a, b string) int { return -compare(a, b) })
	return out
}

// refusedOn is why repair is known not to work on a version; empty: it is not known.
func refusedOn(all []result, version, datastore string) string {
	for _, r := range all {
		if why, ok := strings.CutPrefix(r.Outcome, "refused: "); ok && SameMinor(r.Calico, version) && r.Datastore == datastore {
			return why
		}
	}
	return ""
}
