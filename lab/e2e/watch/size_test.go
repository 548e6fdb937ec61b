//go:build e2e

package watch

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/load"
)

const podsPerNode = 30

// longest is how long after a bare watch a result may come: a judgement begins at most six
// seconds after the one before, and takes its time on half a core.
const longest = 25 * time.Second

// TestWatchAtSize: many changes per second, on clusters of several sizes: how much of a core
// check --watch takes, and how long after a bare watch it reports.
func TestWatchAtSize(t *testing.T) {
	for _, mode := range strings.Split(*modes, ",") {
		for _, text := range strings.FieldsFunc(*pods, func(r rune) bool { return r == ',' }) {
			n, err := strconv.Atoi(text)
			if err != nil || n < podsPerNode {
				t.Fatalf("%q: want a number of pods", text)
			}
			t.Run(mode+"/"+text, func(t *testing.T) { atSize(t, lab.Datastore(mode), n/podsPerNode) })
		}
	}
}

func atSize(t *testing.T, mode lab.Datastore, nodes int) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true, Datastore: mode})
	sum, err := load.Run(t.Context(), l, load.Config{Nodes: nodes, PodsPerNode: podsPerNode})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pods loaded in %.0f s, in the API server's caches after %.0f s; load %s", sum.Pods, sum.Write.Seconds(), sum.Settle.Seconds(), busy())
	b := openStores(t, l)
	blocks, pods, plain := b.targets(t)
	begun := time.Now()
	o := start(t, l)
	o.begins(t, 10*time.Minute)
	t.Logf("first check after %.1f s", time.Since(begun).Seconds())
	end := watchBare(t, l)
	time.Sleep(20 * time.Second) // in which it checks everything once more, besides the events
	before, then := useOf(t, o), time.Now()
	time.Sleep(22 * time.Second) // in which it rereads what it cannot watch
	idle := useOf(t, o)
	idleFor := time.Since(then)
	still := (idle.CPU - before.CPU).Seconds() / idleFor.Seconds()
	apiBefore := partUse(t, l, "kube-apiserver")
	busyBefore := busy()
	made, took := b.churn(t, l, blocks, pods, plain)
	churned := useOf(t, o)
	api := partUse(t, l, "kube-apiserver") - apiBefore
	busyAfter := busy()
	o.calms(3*time.Second, 2*time.Minute)
	after := useOf(t, o)
	all := time.Since(then)
	heard := end()
	r := match(o.heard(), heard, append(slices.Clone(blocks), pods...), mode)
	cpu := after.CPU - idle.CPU
	t.Logf("%d changes in %.1f s: %.0f/s (requested %d/s, through %s); load %s, then %s", made, took.Seconds(), float64(made)/took.Seconds(), *rate, *through, busyBefore, busyAfter)
	t.Logf("%d verdicts; later than the bare watch by p50 %.1f ms, p90 %.1f, p99 %.1f, p99.9 %.1f, most %.1f; own, from event to verdict: p50 %.1f ms, p99 %.1f; %d judged with the next; %d later than 100 ms", len(r.later),
		at(r.later, .5), at(r.later, .9), at(r.later, .99), at(r.later, .999), at(r.later, 1), at(r.own, .5), at(r.own, .99), r.together, r.late)
	t.Logf("the bare watch itself had events p50 %.1f ms, p99 %.1f, most %.1f after they were written; the last verdict %.1f s after the last change", at(r.lag, .5), at(r.lag, .99), at(r.lag, 1), (all-idleFor-took).Seconds()-3)
	t.Logf("CPU %.0f µs per change (%.0f with what it takes when nothing changes, which is %.1f %% of a core); the API server's %.0f µs per change; memory %d MB, at most %d MB",
		(cpu.Seconds()-still*(all-idleFor).Seconds())*1e6/float64(made), cpu.Seconds()*1e6/float64(made), still*100, api.Seconds()*1e6/float64(made), churned.RSS>>20, after.Peak>>20)
	for _, some := range [][]*target{blocks, pods} {
		p := match(o.heard(), heard, some, mode)
		t.Logf("of these %d: %d verdicts, p50 %.1f ms, p90 %.1f, p99 %.1f, most %.1f; %d judged with the next, %d lost", len(some), len(p.later), at(p.later, .5), at(p.later, .9), at(p.later, .99), at(p.later, 1), p.together, p.lost)
	}
	text, _ := l.Kubectl(t.Context(), "get", "--raw", "/metrics")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "apiserver_terminated_watchers_total") || strings.HasPrefix(line, "apiserver_watch_cache_events_received") {
			t.Log(strings.TrimSpace(line))
		}
	}
	// An object that changes several times between two judgements is judged once. What counts:
	// it keeps up, every state that lasted is reported, and the rest of the machine is left alone.
	if share := (churned.CPU - idle.CPU).Seconds() / took.Seconds(); share > 0.8 {
		t.Errorf("%.0f %% of a core during the changes, the limit is half of one for judging and what reading them takes", share*100)
	}
	if p99 := at(r.later, .99); p99 > longest.Seconds()*1000 {
		t.Errorf("p99 %.1f s after the bare watch, want at most %s", p99/1000, longest)
	}
	if r.lost > 0 {
		t.Errorf("%d results without a change, or last changes without a result", r.lost)
	}
	o.interrupt(t)
}

// A result has the delays of verdicts, in milliseconds, in order.
type result struct {
	later, own []float64
	lag        []float64 // of the bare watch after the writes
	late       int
	together   int // changes that were checked with the next one of the same object
	lost       int // verdicts without a change, and changes without a verdict
}

// early is how much sooner than a bare watch check may be: the server sends events to
// one client after the other. It is shorter than the time until the object is changed
// again.
func early(x *target) time.Duration {
	if n := len(x.at); n > 1 {
		return min(time.Second, x.at[n-1].Sub(x.at[0])/time.Duration(n-1)/2)
	}
	return time.Second
}

// match finds the change of each verdict: the last that a bare watch had received by
// then, or soon after. Earlier ones were checked together with it.
func match(vs []verdict, heard map[string]map[int64]time.Time, ts []*target, mode lab.Datastore) (r result) {
	of := map[string][]verdict{}
	for _, v := range vs {
		of[v.key] = append(of[v.key], v)
	}
	for _, x := range ts {
		store := heard[ofKubernetes]
		if mode == lab.Etcd && !strings.HasPrefix(x.key, "/registry/") {
			store = heard[ofCalico]
		}
		for i, revision := range x.made {
			if bare, ok := store[revision]; ok {
				r.lag = append(r.lag, float64(bare.Sub(x.at[i]).Microseconds())/1000)
			}
		}
		next, sooner := 0, early(x)
		for _, v := range of[x.name] {
			i := -1
			for j := next; j < len(x.made); j++ {
				if bare, ok := store[x.made[j]]; ok && v.raised == (j%2 == 0) && bare.Before(v.at.Add(sooner)) {
					i = j
					if len(of[x.name]) == len(x.made) {
						break // none was checked with another
					}
				}
			}
			if i < 0 {
				r.lost++
				continue
			}
			later := float64(v.at.Sub(store[x.made[i]]).Microseconds()) / 1000
			if later > 100 {
				r.late++
			}
			r.later, r.own = append(r.later, later), append(r.own, v.own)
			r.together += i - next
			next = i + 1
		}
		r.lost += (len(x.made) - next) % 2
		r.together += (len(x.made) - next) / 2 * 2
	}
	slices.Sort(r.later)
	slices.Sort(r.own)
	slices.Sort(r.lag)
	return r
}

func at(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

func busy() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

func writeFile(path string, b []byte) error { return os.WriteFile(path, b, 0o600) }

func useOf(t *testing.T, o *ours) lab.Process {
	t.Helper()
	u, err := lab.ProcessOf(o.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func partUse(t *testing.T, l *lab.Lab, name string) time.Duration {
	t.Helper()
	parts, err := l.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if p.Name == name {
			u, err := lab.ProcessOf(p.PID)
			if err != nil {
				t.Fatal(err)
			}
			return u.CPU
		}
	}
	t.Fatalf("no process %s", name)
	return 0
}
