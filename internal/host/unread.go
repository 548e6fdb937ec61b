package host

// Bounds of abandoned reads. A hostile process can make us wait for its memory: that may
// affect only reads of its own pod, never those of the host.
const (
	maxUnread       = 16
	maxUnreadOfPods = 8
	maxUnreadPerPod = 2
)

// A hanging is a read that has not returned.
type hanging struct {
	done  <-chan answer
	group string
}

// crowded reports whether a file must not be read now, because its read already hangs, or
// too many others do.
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

// groupOf is the pod or container of a process; empty for the host's own.
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
