package audit_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A round is a pod that goes and comes again, as the API server tells it: about as many
// changes of pods as of the ledger.
func round(s *model.Snapshot, i int) [][]observe.Change {
	p := s.Pods[i%len(s.Pods)]
	b := s.Blocks[(i%len(s.Pods))/30]
	o := int32((i%len(s.Pods))%30 + 1)
	h := model.Handle{ID: "k8s-pod-network." + p.ContainerID, Name: "k8s-pod-network." + p.ContainerID, Blocks: []model.BlockCount{{CIDR: b.CIDR, Count: 1}}, Written: now, Revision: "9"}
	tell := func(r model.Ref, row any) []observe.Change { return []observe.Change{{Ref: r, Row: row}} }
	pod := func(change func(*model.Pod)) []observe.Change {
		q := p
		q.Written, q.Revision = now, fmt.Sprint(i)
		change(&q)
		return tell(q.Ref(), &q)
	}
	without := b
	without.Held = slices.DeleteFunc(slices.Clone(b.Held), func(x model.Slot) bool { return x[0] == o })
	without.Free = append(slices.Clone(b.Free), o)
	without.Attributes = slices.Clone(b.Attributes)
	without.Attributes = slices.Delete(without.Attributes, int(o), int(o)+1)
	for k := range without.Held {
		if without.Held[k][1] > o {
			without.Held[k][1]--
		}
	}
	again := b
	gone := without
	return [][]observe.Change{
		pod(func(q *model.Pod) { q.Deleted = now }),
		pod(func(q *model.Pod) { q.Deleted, q.Ready = now, false }),
		tell(b.Ref(), &gone),
		tell(h.Ref(), nil),
		pod(func(q *model.Pod) {
			q.Deleted, q.Ready, q.Annotation, q.Annotated = now, false, model.Emptied, nil
		}),
		tell(p.Ref(), nil),
		pod(func(q *model.Pod) {
			q.Phase, q.Ready, q.Node, q.IPs, q.Annotation, q.Annotated, q.ContainerID = model.Pending, false, "", nil, model.Absent, nil, ""
		}),
		pod(func(q *model.Pod) {
			q.Phase, q.Ready, q.IPs, q.Annotation, q.Annotated, q.ContainerID = model.Pending, false, nil, model.Absent, nil, ""
		}),
		tell(h.Ref(), &h),
		tell(b.Ref(), &again),
		pod(func(q *model.Pod) { q.Phase, q.Ready, q.IPs = model.Pending, false, nil }),
		pod(func(*model.Pod) {}),
	}
}

// BenchmarkLive tells what one change costs, in clusters of different size, and how much
// memory they take while they are followed.
func BenchmarkLive(b *testing.B) {
	for _, n := range []int{50_000, 150_000, 300_000} {
		b.Run(fmt.Sprintf("%d pods", n), func(b *testing.B) { benchmarkLive(b, large(n)) })
	}
	b.Run("6000 pods, 200 nodes with agents", func(b *testing.B) { benchmarkLive(b, withFacts(200)) })
}

func benchmarkLive(b *testing.B, s *model.Snapshot) {
	b.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // as the program does
	l, err := audit.NewLive(copied(s), audit.Options{Detectors: detect.All})
	if err != nil {
		b.Fatal(err)
	}
	anew(l, now)
	if fs := l.Findings(); len(fs) > 0 {
		b.Fatalf("%v", fs[0])
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var took []time.Duration
	var raised, changes, subjects int
	b.ResetTimer()
	began := cpu(b)
	for i := 0; b.Loop(); i++ {
		for _, change := range round(s, i*7919) {
			at := time.Now() //nolint:forbidigo // how long it takes is what is measured
			news, err := l.Apply(change, now)
			took = append(took, time.Since(at))
			if err != nil {
				b.Fatal(err)
			}
			raised += len(news.Raised)
			subjects += news.Judged
			changes++
		}
	}
	used := cpu(b) - began
	slices.Sort(took)
	b.ReportMetric(float64(used.Microseconds())/float64(changes), "cpu-µs/change")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-µs")
	b.ReportMetric(float64(subjects)/float64(changes), "subjects/change")
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MB")
	if raised == 0 || len(l.Findings()) > 0 {
		b.Fatalf("raised %d, left %d", raised, len(l.Findings()))
	}
}
