package timeline

import (
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"
)

// BenchmarkLog holds 2.5 million events of 83 000 sandboxes and judges all stories.
func BenchmarkLog(b *testing.B) {
	const total, each = 2_500_000, 30
	kinds := []Kind{
		PodSeen, AddBegin, AddressAssigned, EndpointWritten, AddEnd, SandboxCreated, ContainerStarted, PodTerminating, PodKilled,
		ContainerDied, DelBegin, EndpointDeleted, ReleaseAsked, AddressReleased, DelEnd,
	}
	for b.Loop() {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		l := NewLog()
		began := time.Now() //nolint:forbidigo // measures
		for i := range total {
			instance := i / each
			id := fmt.Sprintf("%064x", instance*7919)
			l.Add(Event{
				At: epoch.Add(time.Duration(i) * time.Millisecond), Kind: kinds[i%each/2], Source: "cni", Node: fmt.Sprintf("node%d", instance%100),
				Pod: fmt.Sprintf("shop/db-%d", instance%20000), Sandbox: id, Object: "k8s-pod-network." + id,
				Address: netip.AddrFrom4([4]byte{10, byte(instance >> 16), byte(instance >> 8), byte(instance)}), Place: Place{File: uint16(instance % 100), Line: uint32(i)},
			})
		}
		added := time.Since(began)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/total, "B/event")
		b.ReportMetric(float64(added.Nanoseconds())/total, "ns/add")
		began = time.Now() //nolint:forbidigo // measures
		stories, verdicts := 0, 0
		for s := range l.Stories {
			Judge(s)
			stories++
			verdicts += len(s.Verdicts)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/judging")
		began = time.Now() //nolint:forbidigo // measures
		JudgeAddresses(l)
		b.ReportMetric(time.Since(began).Seconds(), "s/addresses")
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapSys)/(1<<20), "MiB-heap")
		if stories != 20000 || verdicts != 0 {
			b.Fatalf("%d stories with %d verdicts", stories, verdicts)
		}
	}
}
