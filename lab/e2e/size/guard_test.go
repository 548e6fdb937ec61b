//go:build e2e

package size

import "math"

// gateSize is what the gate measures: large enough to show what grows with the cluster,
// small enough for a gate.
const gateSize = 5010

// What check may take in the gate. CPU is held against the bare download of the same
// bytes that ran right after it, since time depends on what else the machine does; memory
// is its own. The bounds are one and a half times the largest that was measured, at loads
// of 5 to 22: 2.4 and 44 MB, 3.4 and 52 MB. What check was before it read whole lists by
// HTTP/1.1 and without encoding/json took 4.4 and 58 MB, 5.6 and 71 MB: the first shows it.
var bounds = map[string]bound{"kdd": {cpu: 3.6, megabytes: 66}, "etcd": {cpu: 5.1, megabytes: 78}}

type bound struct{ cpu, megabytes float64 }

// guard fails when check has become worse by half. The best of all pairs counts, and a
// machine that disturbs them all gets more chances.
func (b *bench) guard() {
	b.t.Helper()
	most := bounds[b.Datastore]
	checks, bares := b.row("check").all(), b.row("bare download").all()
	got := bound{math.Inf(1), math.Inf(1)}
	for i := 0; i < 3**repeats; i++ {
		if i == len(checks) {
			check, bare := b.pair()
			checks, bares = append(checks, check), append(bares, bare)
		}
		got.cpu = min(got.cpu, checks[i].CPU/bares[i].CPU)
		got.megabytes = min(got.megabytes, float64(checks[i].Peak)/(1<<20))
		if i+1 >= *repeats && got.cpu <= most.cpu && got.megabytes <= most.megabytes {
			break
		}
	}
	b.t.Logf("check takes %.2f times the CPU of the bare download (at most %.2f), %.0f MB (at most %.0f)", got.cpu, most.cpu, got.megabytes, most.megabytes)
	if !(got.cpu <= most.cpu) || !(got.megabytes <= most.megabytes) {
		b.t.Error("check has become worse by half: find out why before a bound is raised")
	}
}
