package audit_test

import (
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// An error that is shown under a warning makes the warning an error: exit codes do not change.
func TestFoldKeepsSeverity(t *testing.T) {
	t.Parallel()
	s := &model.Snapshot{
		Meta: model.Meta{Taken: now, GUID: "g"}, Info: []model.Info{{Datastore: "kdd", Calico: "v3.31.0", Ready: true, IPAM: "calico", Networking: "calico"}},
		Nodes:     []model.Node{{Name: "n1", Changed: now - 4000, Created: now - 90000}},
		NodeState: map[string]*model.NodeState{"n1": {Runtimes: []model.Runtime{{Name: "containerd", Call: "ListPodSandbox", Millis: 2500, Since: now - 4000}}}},
	}
	for _, table := range []model.Table{model.Cluster, model.Pools, model.Nodes, model.Services, model.Events, model.Pods, model.PodPhase, model.PodNode, model.PodStatus} {
		s.Coverage = append(s.Coverage, model.Coverage{Table: table, State: model.Complete})
	}
	s.Coverage = append(s.Coverage, model.Coverage{Table: model.Runtimes, Node: "n1", State: model.Complete})
	r := audit.Judge(t.Context(), s, audit.Source{}, audit.Options{Detectors: detect.All})
	if len(r.Findings) != 1 || r.Findings[0].Code != finding.PL4005 || r.Findings[0].Severity != finding.Error || len(r.Folded) != 1 || r.Folded[0].Code != finding.PL4009 {
		t.Errorf("findings %+v\nfolded %+v", r.Findings, r.Folded)
	}
}
