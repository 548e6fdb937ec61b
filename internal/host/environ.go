package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// Bounds on asking a process for its memory, which a hostile one can make us wait for.
const (
	maxEnviron    = 64 << 10
	environWithin = 300 * time.Millisecond
	maxUnread     = 8 // reads left behind at once
)

// errUnread means that a process's own memory could not be asked.
var errUnread = errors.New("its memory does not answer")

type answer struct {
	b   []byte
	err error
}

// memoryOf reads environ or cmdline of a process, and leaves the read behind if it hangs:
// it is not asked again before that one has come back.
func (h *Host) memoryOf(ctx context.Context, path string) ([]byte, error) {
	for p, done := range h.unread {
		select {
		case <-done:
			delete(h.unread, p)
		default:
		}
	}
	if _, hangs := h.unread[path]; hangs || len(h.unread) >= maxUnread {
		return nil, fmt.Errorf("read %s: %w", path, errUnread)
	}
	done := make(chan answer, 1)
	go func() {
		b, err := slurp(path, maxEnviron)
		done <- answer{b, err}
	}()
	late := time.NewTimer(environWithin)
	defer late.Stop()
	select {
	case a := <-done:
		return a.b, a.err
	case <-late.C:
	case <-ctx.Done():
	}
	h.unread[path] = done
	return nil, fmt.Errorf("read %s: %w", path, errUnread)
}

// settings are the variables of Calico's processes that decide what it does; others may be secrets.
var settings = map[string]bool{
	"FELIX_BPFENABLED": true, "FELIX_INTERFACEPREFIX": true, "CALICO_NETWORKING_BACKEND": true, "USE_POD_CIDR": true,
	"FELIX_HEALTHPORT": true, "NODENAME": true, "FELIX_FELIXHOSTNAME": true, "FELIX_ROUTEREFRESHINTERVAL": true,
	"FELIX_REMOVEEXTERNALROUTES": true,
}

const maxValue = 256

// parseEnviron gives what we may know of an environment: the CNI call that it is of, and
// the settings. A variable that stands twice has its first value, as for getenv.
func parseEnviron(b []byte) (command, container string, set map[string]string) {
	for v := range bytes.SplitSeq(b, []byte{0}) {
		k, value, ok := bytes.Cut(v, []byte("="))
		if !ok || len(value) > maxValue || len(value) == 0 {
			continue
		}
		switch {
		case string(k) == "CNI_COMMAND" && command == "":
			command = string(value)
		case string(k) == "CNI_CONTAINERID" && container == "":
			container = string(value)
		case settings[string(k)] && set[string(k)] == "":
			if set == nil {
				set = map[string]string{}
			}
			set[string(k)] = string(value)
		}
	}
	return command, container, set
}
