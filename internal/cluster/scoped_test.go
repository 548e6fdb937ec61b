package cluster

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/calico"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// With the Kubernetes datastore Calico has no nodes of its own. That is a complete answer:
// what a detector needs of them counts as read.
func TestScopedJudgesWhatNeedsCalicosNodes(t *testing.T) {
	t.Parallel()
	ip := netip.MustParseAddr("10.0.0.1")
	s := &model.Snapshot{
		Meta:  model.Meta{Taken: 1_800_000_000},
		Info:  []model.Info{{Datastore: "kdd", Calico: "v3.31.0", Ready: true, IPAM: "calico", Networking: "calico"}},
		Pools: []model.Pool{{Name: "p", CIDR: netip.MustParsePrefix("10.0.0.0/16"), BlockSize: 26}},
		Nodes: []model.Node{{Name: "n1", Ready: true}},
		Pods:  []model.Pod{{Namespace: "shop", Name: "db-0", Node: "n1", Phase: model.Running, Ready: true, IPs: []netip.Addr{ip}, Annotation: model.Emptied, Written: 1_700_000_000}},
	}
	for _, table := range []model.Table{model.Cluster, model.Pools, model.Nodes, model.Services} {
		s.Coverage = append(s.Coverage, model.Coverage{Table: table, State: model.Complete})
	}
	u := &Scoped{Cluster: &Cluster{calico: &calico.CRDs{}}, s: s}
	r := u.Judge(t.Context(), time.Second, "", s.Pods[0].Ref())
	if !slices.ContainsFunc(slices.Concat(r.Findings, r.Unconfirmed), func(f finding.Finding) bool { return f.Code == finding.PL2001 }) {
		t.Errorf("found %v, unconfirmed %v, skipped %v", r.Findings, r.Unconfirmed, r.Skipped)
	}
}

// What is wrong with a pod's whole node is said; of the node's other objects, whose blocks were not
// read, nothing is.
func TestJudgeOfANode(t *testing.T) {
	t.Parallel()
	ip := netip.MustParseAddr("10.0.0.1")
	s := &model.Snapshot{
		Meta: model.Meta{Taken: 1_800_000_000}, Info: []model.Info{{Datastore: "kdd", Calico: "v3.31.0", Ready: true, IPAM: "calico", Networking: "calico"}},
		Pools: []model.Pool{{Name: "default", CIDR: netip.MustParsePrefix("10.0.0.0/16"), BlockSize: 26}},
		Nodes: []model.Node{{Name: "n1", Changed: 1_700_000_000, Tunnels: []model.Tunnel{{Kind: "vxlan", IP: netip.MustParseAddr("10.0.9.0")}}}},
		Pods:  []model.Pod{{Namespace: "shop", Name: "db-0", Node: "n1", Phase: model.Running, Ready: true, IPs: []netip.Addr{ip}, Annotation: model.Written, Annotated: []netip.Addr{ip}, Written: 1_700_000_000}},
	}
	for _, table := range []model.Table{model.Cluster, model.Pools, model.Nodes, model.Services} {
		s.Coverage = append(s.Coverage, model.Coverage{Table: table, State: model.Complete})
	}
	u := &Scoped{Cluster: &Cluster{calico: &calico.CRDs{}}, s: s}
	r := u.Judge(t.Context(), time.Second, u.NodeOf(s.Pods[0].Ref()), s.Pods[0].Ref())
	var codes []finding.Code
	for _, f := range slices.Concat(r.Findings, r.Unconfirmed) {
		codes = append(codes, f.Code)
	}
	if !slices.Contains(codes, finding.PL4009) || slices.Contains(codes, finding.PL1008) {
		t.Errorf("found %v", codes)
	}
}
