package cluster

import (
	"path/filepath"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
)

// What surrounds a pod survives in the file, and nothing is concluded from what is not in it.
func TestEvidenceKeepsItsRows(t *testing.T) {
	t.Parallel()
	u := &Scoped{Cluster: &Cluster{}, s: &model.Snapshot{
		Meta: model.Meta{Taken: 1_700_000_000}, Info: []model.Info{{Calico: "v3.31.0", Ready: true, IPAM: "calico", Networking: "calico", Datastore: "kdd"}},
		Pods:      []model.Pod{{Namespace: "shop", Name: "db-0", Node: "n1"}},
		Blocks:    []model.Block{{Name: "b"}},
		Handles:   []model.Handle{{ID: "h"}},
		NodeState: map[string]*model.NodeState{"n1": {Sandboxes: []model.Sandbox{{ID: "box", Namespace: "shop", Pod: "db-0"}}}},
		Coverage:  []model.Coverage{{Table: model.Nodes, State: model.Complete}, {Table: model.Sandboxes, Node: "n1", State: model.Complete}, {Table: model.Cluster, State: model.Complete}},
	}}
	file := filepath.Join(t.TempDir(), "evidence.tar.gz")
	if _, err := WriteBundle(file, u.around("shop", "db-0")); err != nil {
		t.Fatal(err)
	}
	s, err := ReadBundle(file)
	if err != nil || len(s.Pods) != 1 || len(s.Blocks) != 1 || len(s.Handles) != 1 || len(s.NodeState["n1"].Sandboxes) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	r, err := CheckBundle(t.Context(), file, audit.Options{Detectors: detect.All})
	if err != nil || len(r.Findings)+len(r.Unconfirmed) != 0 {
		t.Errorf("%+v %+v, %v", r.Findings, r.Unconfirmed, err)
	}
	for _, c := range r.Gaps {
		if c.Table == model.Sandboxes && c.State != model.Partial {
			t.Errorf("%+v", c)
		}
	}
	if len(r.Gaps) < 9 {
		t.Errorf("%d tables are said to be incomplete", len(r.Gaps))
	}
}
