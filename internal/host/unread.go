package host

// Bounds on the reads that are left behind at once. A hostile process can make us wait for
// its memory: it shall cost those of its own pod, and never the host's.
const (
	maxUnread       = 16
	maxUnreadOfPods = 8
	maxUnreadPerPod = 2
)

// A hanging is a read that has not come back.
type hanging struct {
	done  <-chan answer
	group string
}

// crowded tells that a file is not to be read now, as it hangs already, or too many others do.
func (h *Host) crowded(p *process, path string) bool {
	for at, u := range h.unread {
		select {
		case <-u.done:
			delete(h.unread, at)
		default:
		}
	}
	if len(h.unread) == 0 {
		return false
	}
	if _, hangs := h.unread[path]; hangs || len(h.unread) >= maxUnread {
		return true
	}
	group := h.groupOf(p)
	if group == "" {
		return false
	}
	pods, same := 0, 0
	for _, u := range h.unread {
		if u.group != "" {
			pods++
		}
		if u.group == group {
			same++
		}
	}
	return pods >= maxUnreadOfPods || same >= maxUnreadPerPod
}

// groupOf is whose a process is: a pod's or container's; empty if it is the host's own.
func (h *Host) groupOf(p *process) string {
	switch o := readOwner(h.dir(p)); {
	case o.pod != "":
		return o.pod
	case o.container != "":
		return o.container
	case h.nested(p):
		return "nested"
	}
	return ""
}
