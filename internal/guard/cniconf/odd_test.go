package cniconf

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
)

func TestOddFilesAreRefused(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"a link":      func(path string) error { return os.Symlink("real", path) },
		"a pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"nothing":     func(string) error { return nil },
		"a large one": func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte(" "), maxSize+1), 0o600) },
	} {
		f := place(t, plain)
		f.written = 20 * time.Millisecond
		write(t, filepath.Join(filepath.Dir(f.path), "real"), plain)
		if err := errors.Join(os.Remove(f.path), put(f.path)); err != nil {
			t.Fatal(err)
		}
		if changed, err := Install(t.Context(), f, yes); changed || err == nil {
			t.Errorf("%s: %t, %v", name, changed, err)
		}
		if changed, err := Remove(t.Context(), f); changed || err == nil {
			t.Errorf("%s: %t, %v", name, changed, err)
		}
		if state, why := f.State(); state != Broken && (name != "a link" || state != Foreign) || why == "" {
			t.Errorf("%s: %s, %s", name, state, why)
		}
	}
}

func TestTwoAgentsAreNotAtItAtOnce(t *testing.T) {
	t.Parallel()
	f := place(t, plain)
	release, err := f.disk.lock(filepath.Dir(f.path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Install(t.Context(), f, yes); !errors.Is(err, hostfile.ErrLocked) {
		t.Errorf("%v", err)
	}
	if _, err := Remove(t.Context(), f); !errors.Is(err, hostfile.ErrLocked) {
		t.Errorf("%v", err)
	}
	release()
	if _, err := Install(t.Context(), f, yes); err != nil {
		t.Errorf("%v", err)
	}
}

func TestRootOwnerModeAndLabelAreKept(t *testing.T) {
	t.Parallel()
	f := place(t, plain)
	const label = "system_u:object_r:etc_t:s0\x00"
	err := errors.Join(os.Chown(f.path, 1234, 4321), os.Chmod(f.path, 0o640), syscall.Setxattr(f.path, labelKey, []byte(label), 0))
	if err != nil {
		t.Fatal(err)
	}
	before, err := f.disk.read(f.path)
	if err != nil || before.uid != 1234 || before.gid != 4321 || before.mode != 0o640 || before.label != label {
		t.Fatalf("%v: %+v", err, before)
	}
	for _, step := range []func() (bool, error){
		func() (bool, error) { return Install(t.Context(), f, yes) },
		func() (bool, error) { return Remove(t.Context(), f) },
	} {
		if changed, err := step(); err != nil || !changed {
			t.Fatalf("%t, %v", changed, err)
		}
		after, err := f.disk.read(f.path)
		if err != nil {
			t.Fatal(err)
		}
		after.ino, after.raw = before.ino, before.raw
		if !after.same(before) {
			t.Errorf("%+v, not %+v", after, before)
		}
	}
}
