package plugin

import (
	"os"
	"path/filepath"
	"strings"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/hostfile"
)

// mode reads the mode of the guard. A mode that cannot be read means observe.
func (w *World) mode() guard.Mode {
	if lookup(w.Env, "PLUMBLINE_GUARD") == string(guard.Off) {
		return guard.Off
	}
	if _, err := os.Stat(w.Program + guard.Marker); err == nil {
		return guard.Off
	}
	switch m := guard.Mode(word(filepath.Join(w.Dir, guard.ModeFile))); m {
	case guard.Enforce, guard.Off:
		return m
	default:
		return guard.Observe
	}
}

// word reads a file of one word; empty if it cannot be read.
func word(file string) string {
	b, err := hostfile.ReadFollow(file, 256)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
