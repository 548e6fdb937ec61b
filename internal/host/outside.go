package host

import (
	"bytes"
	"strconv"
	"time"
)

// For how long a mount must have left a request unanswered before it is called silent:
// the longer time is for one that does answer a child, for it may only be busy.
const (
	silentAfter = 2 * time.Second
	busyAfter   = 15 * time.Second
)

// waiting is what FUSE's control file has told over several looks.
type waiting struct {
	low   int           // the fewest requests that were open at any look since
	since time.Duration // since when it is above zero
}

// fromOutside judges without asking the file system.
func (h *Host) fromOutside(v *volume, at time.Duration) verdict {
	switch {
	case isFUSE(v.kind):
		return h.fuseWaiting(v, at)
	case isNFS(v.kind):
		return h.nfsCalls(v, at)
	default:
		return verdict{}
	}
}

// fuseWaiting: requests that stay open from look to look have no answer. A server that is
// only busy has none open at some moment, so several moments are looked at.
func (h *Host) fuseWaiting(v *volume, at time.Duration) verdict {
	// The kernel names a connection by its device number, as it has it inside.
	path := h.o.Sys + "/fs/fuse/connections/" + strconv.Itoa(v.major<<20|v.minor) + "/waiting"
	open, low := 0, 0
	for i := range 3 {
		if i > 0 {
			time.Sleep(time.Millisecond)
		}
		b, err := slurp(path, maxLine)
		n, ok := number(bytes.TrimSpace(b))
		if err != nil || !ok || n > 1<<30 {
			delete(h.fuse, v.device()) // no control files here
			return verdict{}
		}
		if open = int(n); i == 0 || open < low {
			low = open
		}
		if low == 0 {
			break
		}
	}
	w, again := h.fuse[v.device()]
	if !again || w.low == 0 {
		w.low, w.since = low, at
	}
	w.low = min(w.low, low)
	h.fuse[v.device()] = w
	out := verdict{waiting: open}
	enough := silentAfter
	if last, ok := h.alive[v.device()]; ok && (last >= w.since || at-last < silentAfter) {
		enough = busyAfter
	}
	if w.low > 0 && at-w.since >= enough {
		out.silent, out.how = true, byWaiting
	}
	return out
}
