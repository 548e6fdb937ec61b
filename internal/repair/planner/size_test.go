package planner_test

import (
	"fmt"
	"net/netip"
	"testing"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/planner"
)

// orphaned is a cluster with an agent and n handles that no allocation uses, and their findings.
func orphaned(n int) (*model.View, []finding.Finding) {
	s := &model.Snapshot{
		Info:  []model.Info{{GUID: "g", Calico: "v3.31.0", Datastore: "kdd", Ready: true, IPAM: "calico"}},
		Nodes: []model.Node{{Name: "n1", Ready: true}},
	}
	var fs []finding.Finding
	for i := range n {
		cidr := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i / 13 / 1024), byte(i / 13 / 4), byte(i / 13 % 4 * 64)}), 26)
		id := fmt.Sprintf("k8s-pod-network.%064x", i)
		s.Handles = append(s.Handles, model.Handle{ID: id, Name: id, Revision: "7", Blocks: []model.BlockCount{{CIDR: cidr, Count: 1}}})
		ref := model.Ref{Kind: model.KindHandle, Name: id}
		fs = append(fs, finding.Finding{Code: finding.PL1006, Severity: finding.Warning, State: finding.Confirmed, Subject: ref, Evidence: []finding.Evidence{{Ref: ref, Says: "x"}}})
	}
	answer(s, given{})
	return model.Seal(s), fs
}

func BenchmarkOrphans(b *testing.B) {
	for _, n := range []int{1000, 4000, 16000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			v, fs := orphaned(n)
			for b.Loop() {
				p := planner.Make(v, fs, planner.Options{ID: "x", IPAM: "calico"})
				if len(p.Steps) != n {
					b.Fatalf("%d steps, refused %+v", len(p.Steps), p.Refused[:1])
				}
				if err := p.Valid(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
