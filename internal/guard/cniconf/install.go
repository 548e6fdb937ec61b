package cniconf

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// A Loaded reports whether the runtime has loaded the guard's configuration, and why not.
// An error means that this is unknown.
type Loaded func(ctx context.Context) (ok bool, why string, err error)

// Install inserts the guard into a file and waits until the runtime has loaded it. If the
// runtime does not, the previous file is restored, and the error says why.
func Install(ctx context.Context, f *File, loaded Loaded) (changed bool, err error) {
	release, err := f.disk.lock(filepath.Dir(f.path))
	if err != nil {
		return false, err
	}
	defer release()
	base, err := f.believed(ctx)
	if err != nil {
		return false, err
	}
	if err := f.effective(); err != nil {
		return false, err
	}
	next, changed, err := patch(base.raw, Guard)
	if err != nil {
		return false, fmt.Errorf("insert the guard into %s: %w", f.path, err)
	}
	if !changed {
		return f.stands(ctx, base, loaded)
	}
	s, err := f.swap(ctx, base, next)
	if err != nil {
		return false, err
	}
	_, err = f.await(ctx, loaded)
	if err == nil {
		err = s.intact()
	}
	if err != nil {
		return false, errors.Join(fmt.Errorf("the guard was removed from %s again: %w", f.path, err), s.back())
	}
	return true, s.forget()
}

// stands handles a file that already has the guard. If the runtime answers that it does not
// load it, the guard is removed; if the answer is unknown, nothing is done.
func (f *File) stands(ctx context.Context, base *image, loaded Loaded) (bool, error) {
	seen, err := f.await(ctx, loaded)
	if err == nil || !seen {
		return false, err
	}
	_, gone := f.unpatch(ctx, base)
	return false, errors.Join(fmt.Errorf("the guard is removed from %s: %w", f.path, err), gone)
}

// await asks until the runtime has loaded the file, at least once. seen says that the
// runtime answered, with no.
func (f *File) await(ctx context.Context, loaded Loaded) (seen bool, err error) {
	within, cancel := context.WithTimeout(ctx, f.shown)
	defer cancel()
	for {
		// The first question is not asked at once: a writer to the old file must show by
		// then.
		if over := pause(ctx, f.settle); over != nil {
			return false, errors.Join(err, over)
		}
		ok, why, cannot := loaded(within)
		switch {
		case ok && cannot == nil:
			return true, nil
		case cannot == nil:
			seen, err = true, fmt.Errorf("the runtime does not load it: %s", why)
		case err == nil || within.Err() == nil: // if the question was cut short, the previous answer counts
			seen, err = false, fmt.Errorf("ask the runtime for its loaded networks: %w", cannot)
		}
		if within.Err() != nil {
			return seen && ctx.Err() == nil, err
		}
	}
}

// Remove removes the guard from a file. The runtime need not have loaded it: another file
// may precede it by now.
func Remove(ctx context.Context, f *File) (changed bool, err error) {
	release, err := f.disk.lock(filepath.Dir(f.path))
	if err != nil {
		return false, err
	}
	defer release()
	base, err := f.believed(ctx)
	if err != nil {
		return false, err
	}
	return f.unpatch(ctx, base)
}

func (f *File) unpatch(ctx context.Context, base *image) (bool, error) {
	next, changed, err := unpatch(base.raw)
	if err != nil {
		return false, fmt.Errorf("remove the guard from %s: %w", f.path, err)
	}
	if !changed {
		return false, nil
	}
	s, err := f.swap(ctx, base, next)
	if err != nil {
		return false, err
	}
	_ = pause(ctx, f.settle) // a shorter pause only notices fewer writers; nothing is lost
	if err := s.intact(); err != nil {
		return false, errors.Join(fmt.Errorf("the previous content of %s is restored: %w", f.path, err), s.back())
	}
	return true, s.forget()
}
