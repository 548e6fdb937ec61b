package audit_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// large is a healthy cluster in CRD mode of n pods, 30 on a node, as the readers would
// have filled it: every string its own copy, but for names that repeat.
func large(n int) *model.Snapshot {
	const perNode = 30
	s := &model.Snapshot{
		Meta:      model.Meta{Schema: 1, Taken: now},
		Info:      []model.Info{{Datastore: "kdd", Calico: "v3.31.0", Ready: true, IPAM: "calico", Networking: "calico"}},
		Collector: []model.GarbageCollectorConfig{{LeakGracePeriod: 900}},
		Pools:     []model.Pool{{Name: "p", CIDR: netip.MustParsePrefix("10.0.0.0/8"), BlockSize: 26}},
		Pods:      make([]model.Pod, 0, n), Handles: make([]model.Handle, 0, n+n/perNode),
	}
	for _, t := range model.Tables() {
		s.Coverage = append(s.Coverage, model.Coverage{Table: t, State: model.Complete})
	}
	for i := 0; len(s.Pods) < n; i++ {
		node := fmt.Sprintf("node-%05d", i)
		cidr := netip.PrefixFrom(model.Offset(s.Pools[0].CIDR, int32(64*i)), 26)
		b := model.Block{
			Name: fmt.Sprintf("10-%d-%d-%d-26", cidr.Addr().As4()[1], cidr.Addr().As4()[2], cidr.Addr().As4()[3]),
			CIDR: cidr, Affinity: "host:" + node, Length: 64, Sequence: sequence + 100, Written: now - 4000, Revision: fmt.Sprint(i),
		}
		hold := func(ord int32, at model.Attribute) {
			b.Attributes = append(b.Attributes, at)
			b.Held = append(b.Held, model.Slot{ord, ord})
			b.Sequences = append(b.Sequences, model.Sequence{Ordinal: ord, Number: sequence})
			s.Handles = append(s.Handles, model.Handle{ID: at.Handle, Name: at.Handle, Blocks: []model.BlockCount{{CIDR: cidr, Count: 1}}, Written: now - 4000, Revision: fmt.Sprint(i)})
		}
		hold(0, model.Attribute{Handle: "vxlan-tunnel-addr-" + node, Node: node, Type: "vxlanTunnelAddress"})
		s.Nodes = append(s.Nodes, model.Node{Name: node, Ready: true, Tunnels: []model.Tunnel{{Kind: "vxlan", IP: cidr.Addr()}}})
		for j := int32(1); j <= perNode && len(s.Pods) < n; j++ {
			ip := model.Offset(cidr, j)
			p := model.Pod{
				Namespace: "team", Name: fmt.Sprintf("web-%d-%05d", j, i), UID: fmt.Sprintf("00000000-0000-0000-0000-%012d", len(s.Pods)), Node: node, Phase: model.Running, Ready: true,
				Created: now - 9000, Written: now - 4000, IPs: []netip.Addr{ip}, Annotation: model.Written, Annotated: []netip.Addr{ip}, Owner: "ReplicaSet/web", Revision: fmt.Sprint(len(s.Pods)),
			}
			p.ContainerID = containerOf(p.Name)
			hold(j, model.Attribute{Handle: "k8s-pod-network." + p.ContainerID, Namespace: "team", Pod: p.Name, Node: node, Other: uint64(len(s.Pods))})
			s.Pods = append(s.Pods, p)
		}
		for o := int32(len(b.Held)); o < 64; o++ {
			b.Free = append(b.Free, o)
		}
		s.Blocks = append(s.Blocks, b)
		s.Affinities = append(s.Affinities, model.Affinity{Node: node, Type: "host", CIDR: cidr, State: "confirmed", Labelled: true, Written: now - 4000})
	}
	return s
}

var figures = flag.String("figures", "", "write what BenchmarkJudge measures into this file, for lab/e2e/size -judged")

// A figured is what judging took, in the form in which lab/e2e/size keeps its figures.
type figured struct {
	Datastore string        `json:"datastore"`
	Pods      int           `json:"pods"`
	Rows      []figuredCost `json:"rows"`
}

type figuredCost struct {
	What string  `json:"what"`
	Wall float64 `json:"wall"` // seconds, on one core
	CPU  float64 `json:"cpu"`
	Peak uint64  `json:"peak"` // bytes
}

// BenchmarkJudge seals and judges with all detectors, on one core.
func BenchmarkJudge(b *testing.B) {
	var all []figured
	for _, n := range []int{50_000, 150_000, 300_000, 1_000_000} {
		b.Run(fmt.Sprintf("%d pods", n), func(b *testing.B) {
			all = append(all, figured{"memory", n, []figuredCost{benchmark(b, once(large(n)))}})
		})
	}
	if *figures == "" {
		return
	}
	text, err := json.MarshalIndent(map[string]any{"clusters": all}, "", " ")
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(*figures, append(text, '\n'), 0o644); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPass is one judgement of check --watch at 150,000 pods with the tables of 5,000
// nodes: rows become a snapshot, which is sealed and judged.
func BenchmarkPass(b *testing.B) {
	for _, nodes := range []int{200, 5000} {
		b.Run(fmt.Sprintf("%d nodes", nodes), func(b *testing.B) {
			rows, err := observe.NewRows(withFacts(nodes))
			if err != nil {
				b.Fatal(err)
			}
			benchmark(b, func() *model.Snapshot { return rows.Snapshot(now) })
		})
	}
}

var scale = flag.Bool("scale", false, "BenchmarkScale: also sizes that need 20 GB")

// BenchmarkScale is one judgement of a controller that watches all nodes, or as one of several shards its own nodes and
// all of Calico's and Kubernetes' records.
func BenchmarkScale(b *testing.B) {
	for _, c := range []struct{ nodes, watched int }{{1000, 1000}, {5000, 5000}, {15_000, 15_000}, {15_000, 3000}, {100_000, 5000}} {
		if c.nodes > 5000 && !*scale {
			continue
		}
		b.Run(fmt.Sprintf("%d nodes, %d watched", c.nodes, c.watched), func(b *testing.B) {
			rows, err := observe.NewRows(withFactsOf(c.nodes, c.watched))
			if err != nil {
				b.Fatal(err)
			}
			debug.FreeOSMemory()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MB-rows")
			measured(b, func() *model.Snapshot { return rows.Snapshot(now) }, func(f finding.Finding) bool { return f.Code == finding.PL9001 && c.watched < c.nodes })
		})
	}
}

// once gives the same snapshot each time.
func once(s *model.Snapshot) func() *model.Snapshot { return func() *model.Snapshot { return s } }

func benchmark(b *testing.B, next func() *model.Snapshot) figuredCost {
	b.Helper()
	return measured(b, next, func(finding.Finding) bool { return false })
}

// measured judges a healthy cluster again and again; what may be found all the same is right.
func measured(b *testing.B, next func() *model.Snapshot, right func(finding.Finding) bool) figuredCost {
	b.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(75)) // as the program does
	debug.FreeOSMemory()
	f := figuredCost{What: "judge"}
	began := cpu(b)
	for b.Loop() {
		r := audit.Judge(b.Context(), next(), audit.Source{}, audit.Options{Detectors: detect.All})
		if all := slices.DeleteFunc(slices.Concat(r.Findings, r.Unconfirmed), right); len(all) > 0 {
			b.Fatalf("%v", all[0])
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		f.Peak = max(f.Peak, m.HeapSys-m.HeapReleased)
	}
	f.CPU = (cpu(b) - began).Seconds() / float64(b.N)
	f.Wall = b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(float64(f.Peak)/(1<<20), "MB")
	b.ReportMetric(f.Wall*1000, "ms/judged")
	b.ReportMetric(f.CPU*1000, "cpu-ms/judged")
	return f
}
