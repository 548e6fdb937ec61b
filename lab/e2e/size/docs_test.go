//go:build e2e

package size

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The benchmark replaces everything between these marks.
const (
	tablesBegin = "<!-- written by make bench-size: begin -->\n"
	tablesEnd   = "<!-- written by make bench-size: end -->\n"
)

var errMarkers = errors.New("the marks around the tables are missing")

// document writes the plot and the tables into the documentation.
func (b *results) document(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "performance.svg"), []byte(b.plot()), 0o644); err != nil {
		return err
	}
	path := filepath.Join(dir, "performance.md")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	anew, err := between(string(text), b.markdown())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(anew), 0o644)
}

// between replaces the tables of a page.
func between(page, tables string) (string, error) {
	front, rest, ok := strings.Cut(page, tablesBegin)
	_, back, also := strings.Cut(rest, tablesEnd)
	if !ok || !also {
		return "", errMarkers
	}
	return front + tablesBegin + tables + tablesEnd + back, nil
}

func (b *results) markdown() string {
	var s strings.Builder
	for _, c := range b.Clusters {
		if c.Pods < 2*gateSize || c.Datastore == "memory" {
			continue
		}
		store := map[string]string{"kdd": "custom resources", "etcd": "etcd datastore"}[c.Datastore]
		fmt.Fprintf(&s, "\n### %s pods, %s nodes, %s\n\n", thousands(c.Pods), thousands(c.Nodes), store)
		for i, l := range c.lines() {
			s.WriteString("| " + strings.Join(l, " | ") + " |\n")
			if i == 0 {
				s.WriteString("|---|" + strings.Repeat("--:|", len(l)-1) + "\n")
			}
		}
	}
	s.WriteString("\n### Model and detectors alone\n\n| pods | time, one core | memory |\n|--:|--:|--:|\n")
	for _, c := range b.Clusters {
		if f := c.row("judge"); c.Datastore == "memory" {
			fmt.Fprintf(&s, "| %s | %s | %s |\n", thousands(c.Pods), seconds(f.Wall), megabytes(f.Peak))
		}
	}
	s.WriteString("\n### Growth\n\n```\n" + b.growth() + "```\n\n")
	return s.String()
}

func TestTablesReplaceTheOld(t *testing.T) {
	t.Parallel()
	page := "front\n" + tablesBegin + "old\n" + tablesEnd + "back\n"
	got, err := between(page, "new\n")
	if want := strings.Replace(page, "old", "new", 1); err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := between("no marks", "new"); !errors.Is(err, errMarkers) {
		t.Errorf("a page without marks: %v", err)
	}
}
