package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryFolderIsAScenarioWithREADME: folders, All and the READMEs must agree.
func TestEveryFolderIsAScenarioWithREADME(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, s := range All {
		if listed[s.Name] {
			t.Errorf("%s is listed twice", s.Name)
		}
		listed[s.Name] = true
		if s.Run == nil || len(s.Modes) == 0 || s.Nodes == 0 || s.Title == "" || len(s.Title) > 50 {
			t.Errorf("%s is incomplete, or its title is too long for a line", s.Name)
		}
		readme, err := os.ReadFile(filepath.Join(s.Name, "README.md"))
		if err != nil {
			t.Errorf("%s has no README: %v", s.Name, err)
		} else if !strings.HasPrefix(string(readme), "# "+s.Name+": ") {
			t.Errorf("the README of %s does not begin with its name", s.Name)
		}
	}
	dirs, err := filepath.Glob("*/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if name := filepath.Dir(d); !listed[name] {
			t.Errorf("%s is not in All", name)
		}
	}
}
