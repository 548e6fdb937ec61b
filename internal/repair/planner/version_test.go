package planner_test

import (
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/planner"
	"plumbline.dev/plumbline/internal/repair/proven"
)

// A plan is applied on the version that it was made with, or that was accepted for it.
func TestRefusedVersion(t *testing.T) {
	t.Parallel()
	accepted := func(v string) *repair.Plan {
		return &repair.Plan{Calico: v, Accepted: &repair.Accepted{Version: v, Reason: "tried"}}
	}
	for name, test := range map[string]struct {
		calico  string
		plan    *repair.Plan
		refused bool
	}{
		"tested":                          {"v3.31.0", &repair.Plan{Calico: "v3.31.0"}, false},
		"of an older Plumbline":           {"v3.31.0", &repair.Plan{}, false},
		"upgraded since":                  {"v3.31.0", &repair.Plan{Calico: "v3.30.1"}, true},
		"not tested":                      {"v3.28.2", &repair.Plan{Calico: "v3.28.2"}, true},
		"accepted":                        {"v3.28.2", accepted("v3.28.2"), false},
		"another version was accepted":    {"v3.28.2", accepted("v3.28.1"), true},
		"accepted, and upgraded since":    {"v3.31.0", accepted("v3.28.1"), true},
		"its undo is accepted as it is":   {"v3.28.2", repair.Undo(accepted("v3.28.2"), nil, ""), false},
		"its undo is not for another one": {"v3.28.3", repair.Undo(accepted("v3.28.2"), nil, ""), true},
	} {
		s := &model.Snapshot{Info: []model.Info{{GUID: "g", Calico: test.calico, Datastore: "kdd", Ready: true, IPAM: "calico"}}}
		if got := planner.RefusedVersion(model.Seal(s), proven.Schemas{}, test.plan); (got != nil) != test.refused {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
