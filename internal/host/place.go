package host

import "os"

// A place is where a process lives. It keeps that for life, whatever it becomes.
type place struct {
	start  uint64
	nested bool
}

// nested tells that a process lives in a PID namespace below the host's, where no runtime
// starts a CNI call. Of whom it cannot be told, it is not said.
func (h *Host) nested(p *process) bool {
	if w, ok := h.places[p.id]; ok && w.start == p.start {
		return w.nested
	}
	dir := h.dir(p)
	depth := readStatus(dir).depth
	nested := depth > 1
	if depth == 0 { // kernels before 4.1 do not count
		same, err := h.shares(dir, "pid")
		if err != nil {
			return false
		}
		nested = !same
	}
	h.places[p.id] = place{start: p.start, nested: nested}
	return nested
}

// shares tells that the process in dir has a namespace with the host's first process.
func (h *Host) shares(dir, kind string) (bool, error) {
	hosts, err := os.Readlink(h.o.Proc + "/1/ns/" + kind)
	if err != nil {
		return false, err
	}
	its, err := os.Readlink(dir + "/ns/" + kind)
	return err == nil && its == hosts, err
}
