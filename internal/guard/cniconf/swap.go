package cniconf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

var errChanged = errors.New("another program changed the file meanwhile")

// A swap is one replacement of a file. Base and replacement exchange names, and until
// forget the base stays beside the file: going back needs no space and restores the very
// file, with everything that another program may have written to it.
type swap struct {
	f    *File
	base *image // the replaced file
	done *image // the replacement
}

// beside returns a name in the file's directory that no runtime loads.
func (f *File) beside() string {
	return filepath.Join(filepath.Dir(f.path), "."+filepath.Base(f.path)+".plumbline")
}

// swap replaces base by next. On any error the file is base again, or what another program
// put there.
func (f *File) swap(ctx context.Context, base *image, next []byte) (*swap, error) {
	s := &swap{f: f, base: base}
	err := s.prepare(next)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare to replace %s: %w", f.path, err), s.forget())
	}
	err = f.disk.exchange(f.beside(), f.path)
	if err == nil {
		err = f.disk.syncDir(filepath.Dir(f.path))
	}
	if err == nil {
		err = s.intact()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("replace %s: %w", f.path, err), s.back())
	}
	return s, nil
}

// prepare writes the replacement and verifies that nobody changed the file.
func (s *swap) prepare(next []byte) error {
	f := s.f
	if err := s.forget(); err != nil { // left by a killed guard daemon
		return err
	}
	if err := f.draft(next, s.base); err != nil {
		return err
	}
	var err error
	if s.done, err = f.disk.read(f.beside()); err != nil {
		return err
	}
	want := *s.base
	want.raw, want.dev, want.ino = next, s.done.dev, s.done.ino
	if !want.same(s.done) {
		return errors.New("the written file differs from what was to be written")
	}
	return f.still(f.path, s.base)
}

// draft writes a file beside the other, equal in all but its content.
func (f *File) draft(raw []byte, like *image) error {
	d, err := f.disk.create(f.beside())
	if err != nil {
		return err
	}
	err = d.dress(like)
	if err == nil {
		err = d.write(raw)
	}
	if err == nil {
		err = d.sync()
	}
	return errors.Join(err, d.close())
}

// still returns an error if a file is not what it was.
func (f *File) still(path string, was *image) error {
	now, err := f.disk.read(path)
	if err == nil && !now.same(was) {
		err = errChanged
	}
	return err
}

// intact verifies that no other program wrote to the file or to the replaced file, which a
// writer may have had open. If one did, its content has precedence.
func (s *swap) intact() error {
	if err := s.f.still(s.f.beside(), s.base); err != nil {
		return err
	}
	return s.f.still(s.f.path, s.done)
}

// back restores the replaced file, unless the file is no longer what we made of it.
func (s *swap) back() error {
	f := s.f
	err := f.still(f.path, s.done)
	if errors.Is(err, errChanged) || errors.Is(err, fs.ErrNotExist) {
		return s.forget() // another program replaced it
	}
	if err == nil {
		err = f.disk.exchange(f.beside(), f.path)
	}
	if err == nil {
		// The file that came off must be ours; else another program was faster, and its
		// file goes back.
		if err = f.still(f.beside(), s.done); errors.Is(err, errChanged) {
			err = f.disk.exchange(f.beside(), f.path)
		}
	}
	if err != nil {
		return fmt.Errorf("put back %s: %w", f.path, err)
	}
	return errors.Join(f.disk.syncDir(filepath.Dir(f.path)), s.forget())
}

// forget removes the file beside.
func (s *swap) forget() error {
	err := s.f.disk.remove(s.f.beside())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
