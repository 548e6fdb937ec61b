package cniconf

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

const (
	settle  = 200 * time.Millisecond // writers that truncate first are done after this
	written = 10 * time.Second       // a writer that takes longer is not waited for
	shown   = 15 * time.Second       // for a runtime to load the file: it is notified at once, and may be busy
)

// A File is a configuration file that the runtime has loaded.
type File struct {
	path    string
	loaded  string   // name of the network that the runtime reports
	dirs    []string // directories that the runtime and Multus read
	disk    disk
	settle  time.Duration // between two reads
	written time.Duration // bound on waiting for a writer
	shown   time.Duration // bound on waiting for the runtime
}

// NewFile returns the file at path, which Effective returned for the same name and
// directories.
func NewFile(path, loadedName string, dirs ...string) *File {
	if len(dirs) == 0 {
		dirs = []string{filepath.Dir(path)}
	}
	return &File{path: filepath.Clean(path), loaded: loadedName, dirs: dirs, disk: realDisk{}, settle: settle, written: written, shown: shown}
}

// State returns the current state of the file and, if it is not plain or patched, why. Only
// two reads can tell whether it is half written: see believed.
func (f *File) State() (State, string) {
	now, err := f.disk.read(f.path)
	if errors.Is(err, ErrForeign) {
		return Foreign, err.Error()
	}
	if err != nil {
		return Broken, err.Error()
	}
	state, err := inspect(now.raw)
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

// effective returns an error if the runtime does not load the file.
func (f *File) effective() error {
	path, err := Effective(f.dirs, f.loaded)
	if err == nil && filepath.Clean(path) != f.path {
		err = fmt.Errorf("%w: the runtime loads %s", ErrForeign, path)
	}
	return err
}

// believed reads the file until two successive reads are equal and valid: it may be being
// written.
func (f *File) believed(ctx context.Context) (*image, error) {
	ctx, cancel := context.WithTimeout(ctx, f.written)
	defer cancel()
	var last *image
	why := errors.New("read once only")
	for {
		now, err := f.disk.read(f.path)
		if err != nil && !errors.Is(err, errBroken) {
			return nil, fmt.Errorf("read the network configuration: %w", err)
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
			why = errors.New("the file is being changed")
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
