package proven

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/support.md, or the schemas of the lab's Calico")

const (
	support = "../../../docs/support.md"
	begin   = "<!-- make gen writes this table from internal/repair/proven/results.tsv -->\n"
	end     = "<!-- end of the table -->\n"
)

// The columns of the table.
var suites = []string{"cluster", "decoders", "repair", "scenarios", "guard", "timeline"}

// TestSupport: docs/support.md has the results that are recorded.
func TestSupport(t *testing.T) {
	b, err := os.ReadFile(support)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no table of the matrix", support)
	}
	want := before + begin + table(results) + "\n" + machines(results) + end + after
	if *update {
		if err := os.WriteFile(support, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(b) {
		t.Error("docs/support.md is stale: make gen")
	}
}

func (r result) cellText() string { return fmt.Sprintf("%s, %s (%s)", r.Outcome, r.Date, r.Commit) }

func table(all []result) string {
	type row [4]string
	cells, rows := map[row]map[string]string{}, []row(nil)
	for _, r := range all {
		if r.Suite == onMachine {
			continue
		}
		k := row{r.Calico, r.Kubernetes, r.Containerd, r.Datastore}
		if cells[k] == nil {
			cells[k], rows = map[string]string{}, append(rows, k)
		}
		cells[k][r.Suite] = r.cellText()
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a[0] != b[0] {
			return -compare(a[0], b[0])
		}
		return -slices.Compare(a[1:], b[1:])
	})
	var s strings.Builder
	s.WriteString("| Calico | Kubernetes | containerd | datastore | " + strings.Join(suites, " | ") + " |\n|" + strings.Repeat("---|", 4+len(suites)) + "\n")
	for _, k := range rows {
		s.WriteString("| " + strings.Join(k[:], " | "))
		for _, suite := range suites {
			cell := cells[k][suite]
			if cell == "" {
				cell = "not run"
			}
			s.WriteString(" | " + cell)
		}
		s.WriteString(" |\n")
	}
	return s.String()
}

// onMachine is the suite of the rows whose nodes are emulated machines.
const onMachine = "machine"

// What runs on each machine.
var systems = map[string]string{
	"debian11":     "Debian 11 | 5.10 | 2.2",
	"debian12":     "Debian 12 | 6.1 | 1.6",
	"debian13":     "Debian 13 | 6.12 | 1.7",
	"debian13-sid": "Debian 13, kernel of sid | 7.2 | 1.7",
}

func machines(all []result) string {
	var s strings.Builder
	s.WriteString("| Calico | Kubernetes | machine | kernel | containerd | datastore | outcome |\n|" + strings.Repeat("---|", 7) + "\n")
	for _, r := range all {
		if r.Suite == onMachine {
			fmt.Fprintf(&s, "| %s | %s | %s | %s | %s |\n", r.Calico, r.Kubernetes, systems[r.Containerd], r.Datastore, r.cellText())
		}
	}
	return s.String()
}
