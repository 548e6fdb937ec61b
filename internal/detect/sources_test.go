package detect_test

import (
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A node is no source for another node: whatever it reports, the findings about the other
// node and its pods stay the same.
func TestNodeIsNoSourceForAnother(t *testing.T) {
	t.Parallel()
	load := cases(t)["testdata/wolf/node-reports-pods-of-another.txtar"]
	const victim, liar = "w3", "a1"
	ofVictim := func(s *model.Snapshot) map[string]finding.Finding {
		v := model.Seal(s)
		out := map[string]finding.Finding{}
		for _, f := range detect.Run(v, detect.All...).Findings {
			if f.Node == victim || slices.ContainsFunc(f.About, func(r model.Ref) bool {
				return slices.ContainsFunc(s.Pods, func(p model.Pod) bool { return p.Ref() == r && p.Node == victim })
			}) {
				out[f.Key()] = f
			}
		}
		return out
	}
	honest := load().Snapshot
	*honest.NodeState[liar] = model.NodeState{Machines: honest.NodeState[liar].Machines, CNIConfigs: honest.NodeState[liar].CNIConfigs}
	want, got := ofVictim(honest), ofVictim(load().Snapshot)
	if len(want) != 2 {
		t.Errorf("%d findings about %s, want 2: %v", len(want), victim, want)
	}
	for k, f := range got {
		if w, ok := want[k]; !ok || !w.Same(&f) || w.Summary != f.Summary {
			t.Errorf("%s: %s\n%v\nwithout the reports of %s: %s\n%v", k, f.Summary, f.Evidence, liar, w.Summary, w.Evidence)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d findings, want %d", len(got), len(want))
	}
}
