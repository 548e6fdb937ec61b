package host

import (
	"bytes"
	"strconv"
)

// A status is what the status file of a task has beyond its stat.
type status struct {
	depth    int    // number of PID namespaces it is in, from the host's
	first    bool   // PID 1 of the innermost one
	dying    bool   // SIGKILL is pending
	switches uint64 // context switches: unchanged means that it has not run
}

const killed = 1 << (9 - 1) // SIGKILL, in a mask of signals

func parseStatus(b []byte) status {
	var s status
	for line := range bytes.Lines(b) {
		key, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		value = bytes.TrimSpace(value)
		switch string(key) {
		case "NSpid":
			ids := bytes.Fields(value)
			s.depth = len(ids)
			s.first = len(ids) > 1 && string(ids[len(ids)-1]) == "1"
		case "SigPnd", "ShdPnd":
			if mask, err := strconv.ParseUint(string(value), 16, 64); err == nil {
				s.dying = s.dying || mask&killed != 0
			}
		case "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches":
			if n, ok := number(value); ok {
				s.switches += n
			}
		}
	}
	return s
}
