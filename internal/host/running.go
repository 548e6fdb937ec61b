package host

import (
	"io/fs"
	"os"
	"strconv"

	"plumbline.dev/plumbline/internal/hostfile"
)

// ProcessRunning reports whether a process exists and can still run. A zombie cannot,
// unless it has running threads; if it cannot be read, it counts as running.
func (h *Host) ProcessRunning(pid int) bool {
	dir := h.o.Proc + "/" + strconv.Itoa(pid)
	buf := make([]byte, hostfile.MaxStat)
	t, err := hostfile.ReadStat(dir, buf)
	if err != nil {
		_, err := os.Stat(dir)
		return !os.IsNotExist(err) || !isProc(h.o.Proc)
	}
	p := process{Task: t}
	if t.State != 'Z' && t.State != 'X' {
		return true
	}
	p.others = threads(dir, pid, buf)
	return p.alive() != 0
}

// isProc reports whether a directory is a procfs at all.
func isProc(dir string) bool {
	st, err := os.Stat(dir + "/1")
	return err == nil && st.Mode().Type() == fs.ModeDir
}
