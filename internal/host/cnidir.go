package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"time"

	"plumbline.dev/plumbline/internal/observe"
)

const usualCNIConfig = "/etc/cni/net.d"

// Files of CRI-O, which does not tell its directory: of the drop-ins the last one counts.
const (
	crioConfig  = "/etc/crio/crio.conf"
	crioDropIns = "/etc/crio/crio.conf.d"
	maxDropIns  = 256
)

var networkDir = regexp.MustCompile(`(?m)^\s*network_dir\s*=\s*["'](/[^"'\n]+)["']`)

// configDir returns the directory from which the runtime takes the network configurations of
// pods. A runtime that does not answer has the one that it last named; if it has named none,
// the directory is unknown: another one proves nothing about the pods.
func (h *Host) configDir(ctx context.Context) (string, error) {
	if h.o.CNIConfig != "" {
		return h.o.CNIConfig, nil
	}
	if h.o.Runtime == nil {
		return usualCNIConfig, nil
	}
	last := h.cniDir.Load()
	dir, err := h.asked(ctx, last != nil)
	switch {
	case errors.Is(err, observe.ErrNotThere) || err == nil && dir == "":
		if dir, err = h.crioDir(); err != nil {
			return "", fmt.Errorf("the CNI directory of the runtime is unknown: %w", err)
		}
	case err != nil && last != nil:
		return *last, nil
	case err != nil:
		return "", fmt.Errorf("the CNI directory of the runtime is unknown: %w", err)
	}
	h.cniDir.Store(&dir)
	return dir, nil
}

// How long a reading waits for the runtime to name its directory: where it has named one before,
// hardly. A runtime that is frozen takes its own tables away, and no others.
const (
	dirAgain = 250 * time.Millisecond
	dirFirst = 2 * time.Second
	dirMost  = 10 * time.Second
)

var errDirLate = errors.New("the runtime does not answer")

// A dirQuestion is one question to the runtime. The answer is there when done is closed.
type dirQuestion struct {
	done chan struct{}
	dir  string
	err  error
}

// asked asks the runtime, one question at a time, which all who ask meanwhile share.
func (h *Host) asked(ctx context.Context, before bool) (string, error) {
	h.dirMu.Lock()
	q := h.dirAsked
	if q == nil {
		q = &dirQuestion{done: make(chan struct{})}
		h.dirAsked = q
		go h.askRuntime(context.WithoutCancel(ctx), q)
	}
	h.dirMu.Unlock()
	most := dirFirst
	if before {
		most = dirAgain
	}
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-q.done:
		return q.dir, q.err
	case <-ctx.Done():
		return "", ctx.Err()
	case <-late.C:
		return "", errDirLate
	}
}

func (h *Host) askRuntime(ctx context.Context, q *dirQuestion) {
	ctx, stop := context.WithTimeout(ctx, dirMost)
	defer stop()
	q.dir, q.err = h.o.Runtime(ctx)
	h.dirMu.Lock()
	h.dirAsked = nil // the next who asks gets an answer of then
	h.dirMu.Unlock()
	close(q.done)
}

// lastConfigDir is the directory that configDir last returned, or else the usual one.
func (h *Host) lastConfigDir() string {
	if h.o.CNIConfig != "" {
		return h.o.CNIConfig
	}
	if last := h.cniDir.Load(); last != nil {
		return *last
	}
	return usualCNIConfig
}

// crioDir is the directory in CRI-O's configuration, or else the usual one.
func (h *Host) crioDir() (string, error) {
	files := []string{crioConfig}
	names, err := h.files(crioDropIns, maxDropIns, func(string) bool { return true })
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, observe.ErrNotThere) {
		return "", err
	}
	for _, name := range names {
		files = append(files, path.Join(crioDropIns, name))
	}
	dir := usualCNIConfig
	for _, file := range files {
		text, err := h.content(file, maxJSON)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", err
		}
		if m := networkDir.FindSubmatch(text); m != nil {
			dir = path.Clean(string(m[1]))
		}
	}
	return dir, nil
}
