package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/hostfile"
)

const (
	// bootFor is for how long after a boot the last configured mode counts: without a guard daemon
	// queued DELs are never carried out.
	bootFor = 30 * time.Minute
	// offFor is how long the environment of a runtime counts as switching the guard off after its
	// last call: others, such as a person's tool, may call the plugin too.
	offFor = 5 * time.Minute
)

// mode reads the mode of the guard. Until the guard daemon has written it, which after a
// reboot may take long, it is the last one that was configured. If that cannot be read
// either, the mode is observe, and known is false.
func (w *World) mode() (m guard.Mode, known bool) {
	off := filepath.Join(w.Dir, guard.OffFile)
	if lookup(w.Env, "PLUMBLINE_GUARD") == string(guard.Off) {
		if f, err := os.OpenFile(off, os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW, 0o644); err == nil {
			_ = f.Close()
			_ = os.Chtimes(off, w.Now(), w.Now())
		}
		return guard.Off, true
	}
	if st, err := os.Lstat(off); err == nil && w.Now().Sub(st.ModTime()).Abs() >= offFor {
		_ = os.Remove(off)
	}
	if _, err := os.Stat(w.Program + guard.Marker); err == nil {
		return guard.Off, true
	}
	files := []string{filepath.Join(w.Dir, guard.ModeFile)}
	if up, err := w.boot(); err == nil && up < bootFor {
		files = append(files, w.LastMode)
	}
	for _, file := range files {
		switch m := guard.Mode(word(file)); m {
		case guard.Enforce, guard.Observe, guard.Off:
			return m, true
		}
	}
	return guard.Observe, false
}

// word reads a file of one word; empty if it cannot be read.
func word(file string) string {
	b, err := hostfile.ReadFollow(file, 256)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
