package cniconf

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// A Loaded tells whether the runtime shows the guard's configuration as loaded, and why
// not. Its error means that this cannot be seen.
type Loaded func(ctx context.Context) (ok bool, why string, err error)

// Install puts the guard into a file and waits until the runtime has loaded it. If it
// does not, what was there is put back, and the error says why.
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
	next, changed, err := Patch(base.raw, Guard)
	if err != nil {
		return false, fmt.Errorf("put the guard into %s: %w", f.path, err)
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
		return false, errors.Join(fmt.Errorf("the guard was taken out of %s again: %w", f.path, err), s.back())
	}
	return true, s.forget()
}

// stands is for a file that has the guard already. If the runtime says that it does not
// load it, the guard goes out; if that cannot be seen, nothing is done.
func (f *File) stands(ctx context.Context, base *image, loaded Loaded) (bool, error) {
	seen, err := f.await(ctx, loaded)
	if err == nil || !seen {
		return false, err
	}
	_, gone := f.unpatch(ctx, base)
	return false, errors.Join(fmt.Errorf("the guard is taken out of %s: %w", f.path, err), gone)
}

// await asks until the runtime shows the file as loaded, once at least. Seen tells that
// it has answered, and that the answer was no.
func (f *File) await(ctx context.Context, loaded Loaded) (seen bool, err error) {
	within, cancel := context.WithTimeout(ctx, f.shown)
	defer cancel()
	for {
		// The first look is not at once: who writes to the old file has to show by then.
		if over := pause(ctx, f.settle); over != nil {
			return false, errors.Join(err, over)
		}
		ok, why, cannot := loaded(within)
		switch {
		case ok && cannot == nil:
			return true, nil
		case cannot == nil:
			seen, err = true, fmt.Errorf("the runtime does not load it: %s", why)
		case err == nil || within.Err() == nil: // cut short, the answer before it counts
			seen, err = false, fmt.Errorf("see what the runtime has loaded: %w", cannot)
		}
		if within.Err() != nil {
			return seen && ctx.Err() == nil, err
		}
	}
}

// Remove takes the guard out of a file. The runtime need not have it loaded: another
// may have come before it since.
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
	next, changed, err := Unpatch(base.raw)
	if err != nil {
		return false, fmt.Errorf("take the guard out of %s: %w", f.path, err)
	}
	if !changed {
		return false, nil
	}
	s, err := f.swap(ctx, base, next)
	if err != nil {
		return false, err
	}
	_ = pause(ctx, f.settle) // without it less is seen, and nothing is lost
	if err := s.intact(); err != nil {
		return false, errors.Join(fmt.Errorf("what was in %s is put back: %w", f.path, err), s.back())
	}
	return true, s.forget()
}
