package host

import (
	"bytes"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
)

// How long a mount must have had an unanswered request before it counts as silent: the
// longer time is for one that answers a child, because it may only be busy.
const (
	silentAfter = 2 * time.Second
	busyAfter   = 15 * time.Second
)

// waiting is the content of FUSE's control file over several reads.
type waiting struct {
	low   int           // the lowest number of open requests since
	since time.Duration // since when it is above zero
}

// fromOutside decides without asking the file system.
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

// fuseWaiting: requests that stay open from read to read are unanswered. A busy server has
// none open at some moment, so it is read several times.
func (h *Host) fuseWaiting(v *volume, at time.Duration) verdict {
	open, low, ok := h.openRequests(v)
	if !ok {
		delete(h.fuse, v.device()) // no control files here
		return verdict{}
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

// openRequests reads the number of open requests up to three times: the last number, and the
// lowest.
func (h *Host) openRequests(v *volume) (open, low int, ok bool) {
	// The kernel names a connection by its internal device number.
	path := h.o.Sys + "/fs/fuse/connections/" + strconv.Itoa(v.major<<20|v.minor) + "/waiting"
	for i := range 3 {
		if i > 0 {
			time.Sleep(time.Millisecond)
		}
		b, err := hostfile.Read(path, maxLine)
		n, ok := number(bytes.TrimSpace(b))
		if err != nil || !ok || n > 1<<30 {
			return 0, 0, false
		}
		if open = int(n); i == 0 || open < low {
			low = open
		}
		if low == 0 {
			break
		}
	}
	return open, low, true
}
