package host

import (
	"io/fs"
	"os"
	"strconv"
)

// ProcessRunning tells that a process is there and can still do something. A zombie cannot, unless
// it has threads that go on; of what cannot be read it is not said that it is dead.
func (h *Host) ProcessRunning(pid int) bool {
	dir := h.o.Proc + "/" + strconv.Itoa(pid)
	buf := make([]byte, maxLine)
	t, ok := readStat(dir, buf)
	if !ok {
		_, err := os.Stat(dir)
		return !os.IsNotExist(err) || !isProc(h.o.Proc)
	}
	p := process{task: t}
	if t.state != 'Z' && t.state != 'X' {
		return true
	}
	p.others = threads(dir, pid, buf)
	return p.alive() != 0
}

// isProc tells that a directory shows processes at all.
func isProc(dir string) bool {
	st, err := os.Stat(dir + "/1")
	return err == nil && st.Mode().Type() == fs.ModeDir
}
