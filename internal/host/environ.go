package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
)

const (
	maxEnviron    = 64 << 10
	environWithin = 300 * time.Millisecond // if no other read hangs
	maxValue      = 256
)

// errUnread means that the memory of a process could not be read.
var errUnread = errors.New("reading its memory does not return")

type answer struct {
	b   []byte
	err error
}

// memoryOf reads environ or cmdline of a process, and abandons the read if it hangs: the
// file is not read again before that read has returned. A process in state D is not read at
// all.
func (h *Host) memoryOf(ctx context.Context, p *process, name string) ([]byte, error) {
	dir := h.dir(p)
	if p.others == nil && p.Threads > 1 {
		p.others = threads(dir, p.ID, make([]byte, maxLine))
	}
	path := dir + "/" + name
	if p.hung() || h.crowded(p, path) {
		return nil, fmt.Errorf("read %s: %w", path, errUnread)
	}
	done := make(chan answer, 1)
	go func() {
		b, err := hostfile.Read(path, maxEnviron)
		done <- answer{b, hostfile.OfTask(dir, err)}
	}()
	// The more reads hang, the less each is waited for: all of them within about a second.
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

// parseCall returns the CNI call of an environment, and its pod. Of a duplicate variable
// the first value counts, as for getenv. Of the arguments only the pod's name is kept: they
// may hold secrets.
func parseCall(b []byte) (command, container, pod string) {
	var args []byte
	for v := range bytes.SplitSeq(b, []byte{0}) {
		k, value, ok := bytes.Cut(v, []byte("="))
		switch {
		case !ok || len(value) == 0:
		case string(k) == "CNI_ARGS" && args == nil:
			args = value
		case len(value) > maxValue:
		case string(k) == "CNI_COMMAND" && command == "":
			command = string(value)
		case string(k) == "CNI_CONTAINERID" && container == "":
			container = string(value)
		}
	}
	return command, container, podOfArgs(args)
}

// podOfArgs reads K8S_POD_NAMESPACE=a;K8S_POD_NAME=b. A duplicate name is invalid.
func podOfArgs(args []byte) string {
	said := map[string]string{}
	for v := range bytes.SplitSeq(args, []byte(";")) {
		k, value, _ := bytes.Cut(v, []byte("="))
		key := string(k)
		if key != "K8S_POD_NAMESPACE" && key != "K8S_POD_NAME" {
			continue
		}
		if _, twice := said[key]; twice || len(value) == 0 || len(value) > maxValue {
			return ""
		}
		said[key] = string(value)
	}
	if said["K8S_POD_NAMESPACE"] == "" || said["K8S_POD_NAME"] == "" {
		return ""
	}
	return said["K8S_POD_NAMESPACE"] + "/" + said["K8S_POD_NAME"]
}
