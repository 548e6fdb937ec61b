package host

import (
	"os"

	"plumbline.dev/plumbline/internal/hostfile"
)

// A place is the namespaces of a process. They do not change with an exec.
type place struct {
	start  uint64
	nested bool
}

// nested reports whether a process is in a PID namespace below the host's, where no runtime
// starts a CNI call. If that is unknown it is false.
func (h *Host) nested(p *process) bool {
	if w, ok := h.places[p.ID]; ok && w.start == p.Start {
		return w.nested
	}
	dir := h.dir(p)
	depth := readStatus(dir).depth
	nested := depth > 1
	if depth == 0 { // kernels before 4.1 do not report it
		same, err := h.shares(dir, "pid")
		if err != nil {
			return false
		}
		nested = !same
	}
	h.places[p.ID] = place{start: p.Start, nested: nested}
	return nested
}

// shares reports whether the process in dir shares a namespace with the host's first
// process.
func (h *Host) shares(dir, kind string) (bool, error) {
	hosts, err := os.Readlink(h.o.Proc + "/1/ns/" + kind)
	if err != nil {
		return false, err
	}
	its, err := os.Readlink(dir + "/ns/" + kind)
	return err == nil && its == hosts, hostfile.OfTask(dir, err)
}
