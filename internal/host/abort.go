package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// Abort ends the connection of a FUSE file system to its server: every process that waits
// for an answer gets an error, in every mount namespace. pods are those known to use it.
// Invariant: begun is false until the abort was written, so an error with begun false means
// that nothing was changed.
func (h *Host) Abort(ctx context.Context, want Filesystem, pods []string, dry bool) (begun bool, err error) {
	major, minor, ok := numbersOf(want.Device)
	if !ok || !isFUSE(want.Type) {
		return false, fmt.Errorf("%s is not a FUSE file system", want.Source)
	}
	if len(want.Layers) > 0 {
		return false, fmt.Errorf("%s cannot be aborted: %s is on it", want.Source, want.Layers[0])
	}
	if err := want.knows(pods); err != nil {
		return false, err
	}
	switch answers, err := h.answersOthers(ctx, want.Device); {
	case err != nil:
		return false, err
	case answers:
		return false, fmt.Errorf("%s answered while these requests waited: only some of them hang, as one that waits for a lock does, and an abort would fail all", want.Source)
	}
	// Opened before it is compared: device numbers are reused, but the file of an ended
	// connection has no effect.
	f, err := os.OpenFile(h.o.Sys+"/fs/fuse/connections/"+strconv.Itoa(major<<20|minor)+"/abort", os.O_WRONLY, 0)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) && errors.Is(h.again(ctx, &want), ErrGone) {
			return false, fmt.Errorf("%s: %w", want.Source, ErrGone)
		}
		return false, fmt.Errorf("abort %s: %w", want.Source, err)
	}
	defer func() { _ = f.Close() }()
	if err := h.again(ctx, &want); err != nil || dry {
		return false, err
	}
	if _, err := f.WriteString("1"); err != nil {
		return false, fmt.Errorf("abort %s: %w", want.Source, err)
	}
	return true, nil
}

// answersOthers reports that a file system has answered a probe since requests began to wait.
func (h *Host) answersOthers(ctx context.Context, device string) (bool, error) {
	if err := h.mounts.take(ctx); err != nil {
		return false, err
	}
	defer h.mounts.leave()
	last, answered := h.alive[device]
	w, waits := h.fuse[device]
	return answered && waits && w.low > 0 && last >= w.since, nil
}

// numbersOf reads a device number.
func numbersOf(device string) (major, minor int, ok bool) {
	n, err := fmt.Sscanf(device, "%d:%d", &major, &minor)
	return major, minor, err == nil && n == 2 && major >= 0 && minor >= 0 && device == fmt.Sprintf("%d:%d", major, minor)
}
