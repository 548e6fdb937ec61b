package host

import (
	"bytes"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
)

// calls are the requests of an NFS mount over several reads. A request that was sent
// between two reads, with nothing received since, is unanswered. Earlier requests may have
// been answered on a closed connection and prove nothing.
type calls struct {
	sent, received uint64
	open           time.Duration // when an unanswered request was first seen; 0 if there is none
}

// A result expires: a soft mount gives up, and the next read asks again.
const statsHold = time.Minute

func (h *Host) nfsCalls(v *volume, at time.Duration) verdict {
	b, err := hostfile.Read(v.dir+"/mountstats", maxTable)
	if err != nil {
		return verdict{}
	}
	now, ok := parseMountstats(b, v.mount.target)
	if !ok {
		return verdict{}
	}
	last, again := h.nfs[v.device()]
	if again && now.received == last.received && now.sent >= last.sent {
		if now.open = last.open; now.open == 0 && now.sent > last.sent {
			now.open = at
		}
	}
	if now.open != 0 && at-now.open >= statsHold {
		now.open = 0
	}
	h.nfs[v.device()] = now
	if now.open == 0 || at-now.open < silentAfter {
		return verdict{}
	}
	return verdict{silent: true, how: byStats, waiting: int(now.sent - last.sent)}
}

// mangle escapes a path as the kernel does in its tables.
var mangle = strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`, "#", `\043`)

// parseMountstats returns how many requests an NFS mount has sent and how many answers it
// has received, over all its connections; false if unknown.
func parseMountstats(b []byte, target string) (calls, bool) {
	var c calls
	here, found := false, false
	head := []byte(" mounted on " + mangle.Replace(target) + " with fstype nfs")
	for line := range bytes.Lines(b) {
		if bytes.HasPrefix(line, []byte("device ")) {
			here = bytes.Contains(line, head)
			continue
		}
		fields := bytes.Fields(line)
		if !here || len(fields) < 2 || string(fields[0]) != "xprt:" {
			continue
		}
		at := 7 // tcp port binds connects time idle sends receives
		if string(fields[1]) == "udp" {
			at = 4 // udp port binds sends receives
		}
		if len(fields) <= at+1 {
			continue
		}
		s, ok1 := number(fields[at])
		r, ok2 := number(fields[at+1])
		if ok1 && ok2 {
			c.sent, c.received, found = c.sent+s, c.received+r, true
		}
	}
	return c, found
}
