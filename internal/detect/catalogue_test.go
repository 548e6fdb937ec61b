package detect_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// Every code has one file, one page, one fixture with faulty and correct objects, and one
// entry in All.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("pl*.go")
	if err != nil {
		t.Fatal(err)
	}
	var inFiles, inAll []string
	for _, f := range files {
		inFiles = append(inFiles, strings.ToUpper(f[:6]))
	}
	for _, d := range detect.All {
		inAll = append(inAll, string(d.Code))
		if _, err := os.Stat("testdata/" + string(d.Code) + ".txtar"); err != nil {
			t.Error(err)
		}
		page(t, d.Code, d.Title)
	}
	page(t, "PL9002", "credential written to a log") // found in logs, not by a detector
	page(t, "PL9004", "suppression expired")
	if !slices.Equal(inFiles, inAll) {
		t.Errorf("files %v\nAll   %v", inFiles, inAll)
	}
	pages, err := filepath.Glob("doc/*.md")
	if err != nil || len(pages) != len(inAll)+2 {
		t.Errorf("%d pages, want %d: %v", len(pages), len(inAll)+2, err)
	}
}

func page(t *testing.T, c finding.Code, title string) {
	t.Helper()
	text, ok := detect.Page(c)
	if !ok {
		t.Errorf("%s has no page", c)
		return
	}
	var heads []string
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, "#") {
			heads = append(heads, strings.TrimSpace(l))
		}
		if n := len([]rune(strings.TrimRight(l, "\n"))); n > 100 {
			t.Errorf("%s: a line of %d columns", c, n)
		}
	}
	want := []string{"# " + string(c) + ": " + title, "## Impact", "## Do now", "## Do not", "## Evidence", "## Causes", "## Repair", "## False alarms"}
	if !slices.Equal(heads, want) {
		t.Errorf("%s: sections %q, want %q", c, heads, want)
	}
}

// A detector reads exactly the tables that it declares.
func TestTablesDeclared(t *testing.T) {
	t.Parallel()
	read := map[finding.Code]map[model.Table]bool{}
	for path, load := range cases(t) {
		v := model.Seal(load().Snapshot)
		for _, d := range detect.All {
			v.Touched()
			detect.Run(v, d)
			for _, table := range v.Touched() {
				if read[d.Code] == nil {
					read[d.Code] = map[model.Table]bool{}
				}
				read[d.Code][table] = true
				declared := slices.Concat(d.Each, d.Needs, d.Uses, []model.Table{model.Cluster}) // Cluster: read by Recognise
				if !slices.ContainsFunc(declared, func(x model.Table) bool { return x.Base() == table }) {
					t.Errorf("%s: %s reads %s and does not declare it", path, d.Code, table)
				}
			}
		}
	}
	for _, d := range detect.All {
		for _, table := range d.Needs {
			if !read[d.Code][table.Base()] {
				t.Errorf("%s declares %s and never reads it", d.Code, table)
			}
		}
	}
}

// A detector that does not declare a group of columns finds the same without it.
func TestColumnsDeclared(t *testing.T) {
	t.Parallel()
	blank := map[model.Table]func(*model.Snapshot){
		model.PodNode: func(s *model.Snapshot) {
			for i := range s.Pods {
				s.Pods[i].Node = ""
			}
		},
		model.PodStatus: func(s *model.Snapshot) {
			for i := range s.Pods {
				s.Pods[i].IPs, s.Pods[i].Ready = nil, false
			}
		},
		model.PodPhase: func(s *model.Snapshot) {
			for i := range s.Pods {
				s.Pods[i].Phase, s.Pods[i].HostNetwork = "", false
			}
		},
		model.HandleCounts: func(s *model.Snapshot) {
			for i := range s.Handles {
				s.Handles[i].Blocks, s.Handles[i].Deleted = nil, false
			}
		},
	}
	for path, load := range cases(t) {
		whole := model.Seal(load().Snapshot)
		for table, wipe := range blank {
			s := load().Snapshot
			wipe(s)
			wiped := model.Seal(s)
			for _, d := range detect.All {
				if slices.Contains(d.Needs, table) || slices.Contains(d.Uses, table) {
					continue
				}
				want := stripSummaries(lines(detect.Run(whole, d).Findings))
				if got := stripSummaries(lines(detect.Run(wiped, d).Findings)); got != want {
					t.Errorf("%s: %s depends on %s and does not declare it:\n%s\nwithout:\n%s", path, d.Code, table, want, got)
				}
			}
		}
	}
}

// Without a table that it needs, a detector is reported as skipped.
func TestAbsentIsNotEmpty(t *testing.T) {
	t.Parallel()
	load := cases(t)["testdata/PL1001.txtar"]
	for _, d := range detect.All {
		for _, table := range d.Needs {
			s := load().Snapshot
			s.Coverage = slices.DeleteFunc(s.Coverage, func(c model.Coverage) bool { return c.Table == table })
			res := detect.Run(model.Seal(s), d)
			derived := table == model.Allocations || table == model.Addresses
			if skipped := len(res.Skipped) == 1; !skipped && !derived {
				t.Errorf("%s judges without %s", d.Code, table)
			}
		}
	}
}

// If a table of a node was not read, the node is reported as skipped and not checked; the
// other nodes are checked as before.
func TestUnreadNodeIsNotHealthy(t *testing.T) {
	t.Parallel()
	all := cases(t)
	for _, d := range detect.All {
		load := all["testdata/"+string(d.Code)+".txtar"]
		for _, table := range d.Needs {
			if !table.OfNode() || load == nil {
				continue
			}
			for node := range load().Snapshot.NodeState {
				s := load().Snapshot
				lost := false
				for i := range s.Coverage {
					if c := &s.Coverage[i]; c.Table == table && c.Node == node {
						lost = lost || c.State.Seen()
						c.State = model.Lost
					}
				}
				if lost {
					unread(t, d, table, node, load().Snapshot, s)
				}
			}
		}
	}
}

func unread(t *testing.T, d *detect.Detector, table model.Table, node string, whole, part *model.Snapshot) {
	t.Helper()
	v := model.Seal(whole)
	before, after := detect.Run(v, d), detect.Run(model.Seal(part), d)
	var want []finding.Finding
	for i := range before.Findings {
		if f := before.Findings[i]; f.Node != node {
			want = append(want, f)
		}
	}
	if got := lines(after.Findings); got != lines(want) {
		t.Errorf("%s without %s of %s:\n%s\nwant:\n%s", d.Code, table, node, got, lines(want))
	}
	for _, each := range d.Each {
		for i := range int32(v.Rows(each)) {
			if v.NodeOf(each, i) != node {
				continue
			}
			if !slices.ContainsFunc(after.Skipped, func(s detect.Skip) bool { return slices.Contains(s.Nodes, node) }) {
				t.Errorf("%s: %s of %s was not read, and this is not reported as skipped", d.Code, table, node)
			}
			return
		}
	}
}

// ShadowedBy has no cycle.
func TestShadowsEnd(t *testing.T) {
	t.Parallel()
	var depth func(c finding.Code, n int) int
	depth = func(c finding.Code, n int) int {
		if n > len(detect.All) {
			t.Fatalf("%s explains itself", c)
		}
		d := detect.ByCode(c)
		if d == nil {
			t.Fatalf("no code %s", c)
		}
		for _, by := range d.ShadowedBy {
			n = max(n, depth(by, n+1))
		}
		return n
	}
	for _, d := range detect.All {
		depth(d.Code, 0)
	}
}
