package detect_test

import (
	"maps"
	"net/netip"
	"os"
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// Where there are more Events than are read, what they say is reported, and that it is not all.
func TestSomeEventsAreEnough(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/clusters/add-fails-everywhere.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for state, want := range map[model.State]int{model.Complete: 1, model.Partial: 1, model.Lost: 0} {
		c, err := snapshotio.ParseText(text, "findings", "skipped")
		if err != nil {
			t.Fatal(err)
		}
		c.Snapshot.Coverage = append(c.Snapshot.Coverage, model.Coverage{Table: model.Events, State: state})
		r := detect.Run(model.Seal(c.Snapshot), detect.PL4007)
		if said := slices.ContainsFunc(r.Skipped, func(s detect.Skip) bool { return s.Code == "PL4007" }); len(r.Findings) != want || said == (state == model.Complete) {
			t.Errorf("Events %s: %d findings, skipped %+v", state, len(r.Findings), r.Skipped)
		}
	}
}

var s1 = []netip.Addr{netip.MustParseAddr("192.168.0.1")}

// A node whose coverage is complete and of which there are no rows has none.
func TestNoRows(t *testing.T) {
	t.Parallel()
	s := &model.Snapshot{Nodes: []model.Node{{Name: "n1", Ready: true, CalicoIPs: s1}}, Info: []model.Info{{Ready: true, IPAM: "calico", Networking: "calico", Datastore: "kdd"}}}
	for _, table := range model.FactTables() {
		s.Coverage = append(s.Coverage, model.Coverage{Table: table, Node: "n1", State: model.Complete})
	}
	for _, table := range []model.Table{model.Nodes, model.Hosts, model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Events, model.Cluster} {
		s.Coverage = append(s.Coverage, model.Coverage{Table: table, State: model.Complete})
	}
	if r := detect.Run(model.Seal(s), detect.PL5005, detect.PL3008, detect.PL4007, detect.PL4008); len(r.Findings) != 1 || r.Findings[0].Code != "PL5005" {
		t.Errorf("%+v", r.Findings)
	}
}

// What is not known of kube-proxy, host-local and the guard is reported for each node.
func TestUntold(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]*detect.Detector{"PL5006": detect.PL5006, "PL1012": detect.PL1012, "PL5007": detect.PL5007} {
		text, err := os.ReadFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		c, err := snapshotio.ParseText(text, "findings")
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]bool{}
		for _, s := range detect.Run(model.Seal(c.Snapshot), d).Skipped {
			for _, n := range s.Nodes {
				said[n] = s.OutOfScope
			}
		}
		want := map[string][]string{"PL5006": {"bpf", "chained", "elsewhere", "embedded", "foreign", "ipvs", "legacy", "older", "unknown", "unread", "unreported", "without"}, "PL1012": {"unread"}, "PL5007": {"unread"}}[name]
		if got := slices.Sorted(maps.Keys(said)); !slices.Equal(got, want) {
			t.Errorf("%s is not told of %v, want %v", name, got, want)
		}
	}
}
