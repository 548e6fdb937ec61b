package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	maxEnviron    = 64 << 10
	environWithin = 300 * time.Millisecond // if nobody else keeps us waiting
	maxValue      = 256
)

// errUnread means that a process's own memory could not be asked.
var errUnread = errors.New("its memory does not answer")

type answer struct {
	b   []byte
	err error
}

// memoryOf reads environ or cmdline of a process, and leaves the read behind if it hangs:
// it is not asked again before that one has come back. One in D is not asked at all.
func (h *Host) memoryOf(ctx context.Context, p *process, name string) ([]byte, error) {
	dir := h.dir(p)
	if p.others == nil && p.threads > 1 {
		p.others = threads(dir, p.id, make([]byte, maxLine))
	}
	path := dir + "/" + name
	if p.hung() || h.crowded(p, path) {
		return nil, fmt.Errorf("read %s: %w", path, errUnread)
	}
	done := make(chan answer, 1)
	go func() {
		b, err := slurp(path, maxEnviron)
		done <- answer{b, err}
	}()
	// The more hang, the less each is waited for: all of them within about a second.
	late := time.NewTimer(environWithin / time.Duration(1+len(h.unread)))
	defer late.Stop()
	select {
	case a := <-done:
		return a.b, a.err
	case <-late.C:
	case <-ctx.Done():
	}
	h.unread[path] = hanging{done: done, group: h.groupOf(p)}
	return nil, fmt.Errorf("read %s: %w", path, errUnread)
}

// parseCall gives the CNI call that an environment is of. A variable that stands twice
// has its first value, as for getenv.
func parseCall(b []byte) (command, container string) {
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
		}
	}
	return command, container
}
