package cniconf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

var errChanged = errors.New("it was changed by another meanwhile")

// A swap is one replacement of a file. The two change names, and until the swap is kept,
// what was there stays beside it: going back needs no space, and brings back the very
// file, with all that another may have written to it.
type swap struct {
	f    *File
	base *image // what was there
	done *image // what took its place
}

// beside is a name in the file's directory at which no runtime looks.
func (f *File) beside() string {
	return filepath.Join(filepath.Dir(f.path), "."+filepath.Base(f.path)+".plumbline")
}

// swap puts next in the place of base. On any error base is where it was, or what
// another put there.
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

// prepare has all ready, and makes sure that nobody changed the file.
func (s *swap) prepare(next []byte) error {
	f := s.f
	if err := s.forget(); err != nil { // of an agent that was killed
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
		return errors.New("what was written is not what was to be written")
	}
	return f.still(f.path, s.base)
}

// draft writes a file beside the other, like it in all but content.
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

// still tells why a file is not what it was.
func (f *File) still(path string, was *image) error {
	now, err := f.disk.read(path)
	if err == nil && !now.same(was) {
		err = errChanged
	}
	return err
}

// intact tells that nobody else wrote: neither to the file, nor to what it replaced, which
// a writer may have had open. It is his word that counts, not ours.
func (s *swap) intact() error {
	if err := s.f.still(s.f.beside(), s.base); err != nil {
		return err
	}
	return s.f.still(s.f.path, s.done)
}

// back puts back what was there, unless the file is no longer what we made of it.
func (s *swap) back() error {
	f := s.f
	err := f.still(f.path, s.done)
	if errors.Is(err, errChanged) || errors.Is(err, fs.ErrNotExist) {
		return s.forget() // it is another's now, or was never ours
	}
	if err == nil {
		err = f.disk.exchange(f.beside(), f.path)
	}
	if err == nil {
		// What came off must be ours; else another was quicker, and his goes back.
		if err = f.still(f.beside(), s.done); errors.Is(err, errChanged) {
			err = f.disk.exchange(f.beside(), f.path)
		}
	}
	if err != nil {
		return fmt.Errorf("put back %s: %w", f.path, err)
	}
	return errors.Join(f.disk.syncDir(filepath.Dir(f.path)), s.forget())
}

// forget removes what lies beside the file.
func (s *swap) forget() error {
	err := s.f.disk.remove(s.f.beside())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
