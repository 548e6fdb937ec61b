package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// Abort ends the connection of a FUSE file system to its server: whoever waits for an
// answer gets an error, in every mount namespace. Pods are those that are known to use it.
// Begun tells that it was told to; an error before that means that nothing was done.
func (h *Host) Abort(ctx context.Context, want Filesystem, pods []string, dry bool) (begun bool, err error) {
	major, minor, ok := numbersOf(want.Device)
	if !ok || !isFUSE(want.Type) {
		return false, fmt.Errorf("%s is no FUSE file system", want.Source)
	}
	if err := want.knows(pods); err != nil {
		return false, err
	}
	// Opened before it is compared: the number of a device is given again, but what was
	// opened of a connection that has ended leads nowhere.
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

// numbersOf reads a device number.
func numbersOf(device string) (major, minor int, ok bool) {
	n, err := fmt.Sscanf(device, "%d:%d", &major, &minor)
	return major, minor, err == nil && n == 2 && major >= 0 && minor >= 0 && device == fmt.Sprintf("%d:%d", major, minor)
}
