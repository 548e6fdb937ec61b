package host

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

// watched are the directories that configure the network of pods, and the tables that a
// change in them affects.
func (h *Host) watched() map[string][]model.Table {
	return map[string][]model.Table{
		h.lastConfigDir():      {model.CNIConfigs},
		"/var/lib/cni/results": {model.CNIResults},
		"/var/lib/calico":      {model.Machines},
	}
}

// lookAgain is how often missing or replaced directories are searched.
const lookAgain = 10 * time.Second

const interesting = unix.IN_CLOSE_WRITE | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_ONLYDIR

// Watch calls changed with the tables that a change of files affects, until ctx ends.
func (h *Host) Watch(ctx context.Context, changed func(tables ...model.Table)) error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	f := os.NewFile(uintptr(fd), "inotify")
	defer func() { _ = f.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = f.Close() })
	defer stop()
	buf := make([]byte, 64<<10)
	var tables map[int][]model.Table
	for {
		before := tables
		tables = map[int][]model.Table{}
		for dir, ts := range h.watched() {
			wd, err := unix.InotifyAddWatch(fd, filepath.Join(h.o.Root, dir), interesting)
			if err != nil {
				continue
			}
			tables[wd] = ts
			// Adding an existing watch changes nothing. A new one is of a directory that appeared or
			// was replaced: it may have had files before anybody watched.
			if _, known := before[wd]; !known {
				changed(ts...)
			}
		}
		if err := f.SetReadDeadline(deadline(lookAgain)); err != nil {
			return fmt.Errorf("watch files: %w", err)
		}
		n, err := f.Read(buf)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			continue
		case err != nil:
			return fmt.Errorf("watch files: %w", err)
		}
		for _, wd := range descriptors(buf[:n]) {
			if ts := tables[wd]; ts != nil {
				changed(ts...)
			} else { // the kernel dropped events, or the event is of a removed watch
				changed(model.CNIConfigs, model.CNIResults, model.Machines)
			}
		}
	}
}

// descriptors returns the watches of the events, each once.
func descriptors(b []byte) []int {
	var out []int
	for len(b) >= unix.SizeofInotifyEvent {
		wd := int(int32(binary.NativeEndian.Uint32(b)))
		name := int(binary.NativeEndian.Uint32(b[12:]))
		if len(out) == 0 || out[len(out)-1] != wd {
			out = append(out, wd)
		}
		if name > len(b)-unix.SizeofInotifyEvent {
			break
		}
		b = b[unix.SizeofInotifyEvent+name:]
	}
	return out
}

func deadline(d time.Duration) time.Time { return time.Now().Add(d) } //nolint:forbidigo // deadlines use the wall clock
