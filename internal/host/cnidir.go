package host

import (
	"context"
	"errors"
	"fmt"
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
		dir = h.crioDir()
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

// A dirAnswer is what the runtime said.
type dirAnswer struct {
	dir string
	err error
}

// asked asks the runtime, one question at a time: the answer to one that was given up is for whoever
// asks next.
func (h *Host) asked(ctx context.Context, before bool) (string, error) {
	h.dirMu.Lock()
	answer := h.dirAsked
	if answer == nil {
		answer = make(chan dirAnswer, 1)
		h.dirAsked = answer
		go func() {
			ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), dirMost)
			defer stop()
			dir, err := h.o.Runtime(ctx)
			answer <- dirAnswer{dir, err}
		}()
	}
	h.dirMu.Unlock()
	most := dirFirst
	if before {
		most = dirAgain
	}
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case a := <-answer:
		h.dirMu.Lock()
		h.dirAsked = nil
		h.dirMu.Unlock()
		return a.dir, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	case <-late.C:
		return "", errDirLate
	}
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
func (h *Host) crioDir() string {
	files := []string{crioConfig}
	names, _ := h.files(crioDropIns, maxDropIns, func(string) bool { return true })
	for _, name := range names {
		files = append(files, path.Join(crioDropIns, name))
	}
	dir := usualCNIConfig
	for _, file := range files {
		text, err := h.content(file, maxJSON)
		if err != nil {
			continue
		}
		if m := networkDir.FindSubmatch(text); m != nil {
			dir = path.Clean(string(m[1]))
		}
	}
	return dir
}
