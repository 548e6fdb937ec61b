package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

func TestWanted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  guard.Mode
		says  string
	}{
		"all":          {map[string]string{"mode": "observe"}, guard.Observe, ""},
		"its own wins": {map[string]string{"mode": "observe", "mode.w.1": " enforce\n"}, guard.Enforce, ""},
		"another's":    {map[string]string{"mode": "observe", "mode.w": "enforce"}, guard.Observe, ""},
		"its own off":  {map[string]string{"mode": "enforce", "mode.w.1": "off"}, guard.Off, ""},
		"garbage":      {map[string]string{"mode": "enforce", "mode.w.1": "on"}, "", "is not a mode"},
		"nothing":      {nil, "", "no mode is configured"},
		"empty":        {map[string]string{"mode": ""}, "", "is not a mode"},
		"too long":     {map[string]string{"mode": "off" + strings.Repeat(" ", 300)}, "", "more than"},
	} {
		dir := t.TempDir()
		for f, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, f), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := wanted(dir, "w.1")
		if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := wanted(t.TempDir(), "../w"); err == nil {
		t.Error("a path is taken for a node's name")
	}
}

func FuzzParseMode(f *testing.F) {
	f.Add("observe\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMode(text)
		if err == nil && (strings.TrimSpace(text) != string(m) || m == "") || err != nil && m != "" {
			t.Errorf("%q: %q, %v", text, m, err)
		}
	})
}

// A guard that the runtime's environment switches off is not reported as in force.
func TestOffByEnvironmentIsReported(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.turn("enforce")
	s.write("run/plumbline/guard/"+guard.OffFile, "", 0o644)
	if r := s.snapshot(s.Now()); r.Mode != guard.Off || r.Unprotected() == "" || !strings.Contains(r.Why, "PLUMBLINE_GUARD") {
		t.Errorf("%+v", r)
	}
	if err := os.Remove(s.path("run/plumbline/guard/" + guard.OffFile)); err != nil {
		t.Fatal(err)
	}
	if r := s.snapshot(s.Now()); r.Mode != guard.Enforce {
		t.Errorf("%+v", r)
	}
}
