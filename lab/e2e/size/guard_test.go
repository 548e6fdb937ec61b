//go:build e2e

package size

import "math"

// gateSize is the size that CI measures: large enough to show what grows with the
// cluster, small enough to run in CI.
const gateSize = 5010

// What check may use in CI. CPU is compared with the bare download of the same bytes
// that ran right after it, since time depends on the load of the machine; memory is its
// own. The limits are one and a half times the largest measured values, at loads of 5 to
// 22: 2.4 and 44 MB, 3.4 and 52 MB. check took 4.4 and 58 MB, 5.6 and 71 MB before it
// read complete lists by HTTP/1.1 and without encoding/json: the first limit detects
// that.
var bounds = map[string]bound{"kdd": {cpu: 3.6, megabytes: 66}, "etcd": {cpu: 5.1, megabytes: 78}}

type bound struct{ cpu, megabytes float64 }

// guard fails if check has become worse by half. The best of all pairs counts, and there
// are more attempts if the machine disturbs them all.
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
		b.t.Error("check has become worse by half: find out why before you raise a limit")
	}
}
