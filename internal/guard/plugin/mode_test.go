package plugin

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// After a reboot, and until the guard daemon runs, the mode is the last one that was
// configured; without any the plugin observes, and says that it knows none.
func TestModeWithoutTheDaemon(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, last string
		booted     string // how long ago; a minute if empty
		want       guard.Mode
		trouble    bool
	}{
		"the daemon's":        {"enforce\n", "observe\n", "", guard.Enforce, false},
		"before the reboot":   {"", "enforce\n", "", guard.Enforce, false},
		"misspelt":            {"enforced\n", "enforce\n", "", guard.Enforce, false},
		"none":                {"", "", "", guard.Observe, true},
		"both misspelt":       {"on", "on", "", guard.Observe, true},
		"no daemon for hours": {"", "enforce\n", "3h", guard.Observe, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			for file, text := range map[string]string{filepath.Join(s.dir, guard.ModeFile): c.file, s.dir + ".last-mode": c.last} {
				if text != "" {
					must(t, os.MkdirAll(filepath.Dir(file), 0o755))
					must(t, os.WriteFile(file, []byte(text), 0o600))
				}
			}
			s.call("ADD", "a", "TEST_BOOTED="+cmp.Or(c.booted, "1m"))
			events, _ := s.events()
			if e := events[0]; e.Mode != c.want || strings.Contains(e.Note(), errNoMode.Error()) != c.trouble {
				t.Errorf("%+v", e)
			}
		})
	}
}

// A guard that the runtime's environment switches off leaves a file that the guard daemon
// reports, as long as it is off.
func TestOffByEnvironment(t *testing.T) {
	t.Parallel()
	s := newStand(t).mode(guard.Enforce)
	file := filepath.Join(s.dir, guard.OffFile)
	left := func() bool { _, err := os.Lstat(file); return err == nil }
	if s.call("ADD", "a", "PLUMBLINE_GUARD=off"); !left() {
		t.Error("nothing shows that it is off")
	}
	if s.call("ADD", "b"); !left() { // a person's tool, for instance
		t.Error("one call from another environment makes it look on")
	}
	long := time.Now().Add(-2 * offFor) //nolint:forbidigo // of a file
	must(t, os.Chtimes(file, long, long))
	if s.call("ADD", "c"); left() {
		t.Error("it was switched on long ago")
	}
}
