package cniconf

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

const (
	settle  = 200 * time.Millisecond // writers that truncate first are done by then
	written = 10 * time.Second       // a writer that is not done then never will be
	shown   = 15 * time.Second       // by a runtime: it is told at once, and may be busy
)

// A File is a configuration file that the runtime has loaded.
type File struct {
	path    string
	loaded  string   // name of the network that the runtime reports
	dirs    []string // in which the runtime and Multus look
	disk    disk
	settle  time.Duration // between two looks
	written time.Duration // bound on waiting for a writer
	shown   time.Duration // bound on waiting for the runtime
}

// NewFile names the file at path, which Effective gave for the same name and directories.
func NewFile(path, loadedName string, dirs ...string) *File {
	if len(dirs) == 0 {
		dirs = []string{filepath.Dir(path)}
	}
	return &File{path: filepath.Clean(path), loaded: loadedName, dirs: dirs, disk: realDisk{}, settle: settle, written: written, shown: shown}
}

// State tells how the file stands to the guard at this moment, and why where that is not
// plain to see. Whether it is half written only a second look can tell.
func (f *File) State() (State, string) {
	now, err := f.disk.read(f.path)
	if errors.Is(err, ErrForeign) {
		return Foreign, err.Error()
	}
	if err != nil {
		return Broken, err.Error()
	}
	state, err := Inspect(now.raw)
	if err == nil {
		err = f.effective()
	}
	switch {
	case err == nil:
		return state, ""
	case state == Plain:
		return Foreign, err.Error()
	default:
		return state, err.Error()
	}
}

// effective tells why the file is not the one that the runtime loads.
func (f *File) effective() error {
	path, err := Effective(f.dirs, f.loaded)
	if err == nil && filepath.Clean(path) != f.path {
		err = fmt.Errorf("%w: the runtime loads %s", ErrForeign, path)
	}
	return err
}

// believed reads the file until two reads are equal and make sense: it may be in the
// middle of being written.
func (f *File) believed(ctx context.Context) (*image, error) {
	ctx, cancel := context.WithTimeout(ctx, f.written)
	defer cancel()
	var last *image
	why := errors.New("read once only")
	for {
		now, err := f.disk.read(f.path)
		if err != nil && !errors.Is(err, ErrBroken) {
			return nil, fmt.Errorf("read the network's configuration: %w", err)
		}
		if err == nil {
			_, err = parse(now.raw)
		}
		switch {
		case err != nil:
			now, why = nil, err
		case last != nil && last.same(now):
			return now, nil
		case last != nil:
			why = errors.New("it is being changed")
		}
		last = now
		if err := pause(ctx, f.settle); err != nil {
			return nil, fmt.Errorf("wait until %s is written: %w: %w", f.path, why, err)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
