//go:build unix

package hostfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func lockFile(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := Open(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLockWaits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	first, second := lockFile(t, path), lockFile(t, path)
	if err := Lock(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if !Locked(second) {
		t.Error("not locked")
	}
	if err := TryLock(second); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := Lock(soon, second); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	third := lockFile(t, path)
	got := make(chan error, 1)
	go func() { got <- Lock(t.Context(), third) }()
	time.Sleep(20 * time.Millisecond)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	// The second one, granted after its time, does not keep the lock.
	select {
	case err := <-got:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the lock is not handed on")
	}
	fourth := lockFile(t, path)
	if err := TryLock(fourth); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	_ = third.Close()
	if err := TryLock(fourth); err != nil {
		t.Error(err)
	}
	_ = fourth.Close()
}

func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	elsewhere := filepath.Join(dir, "elsewhere")
	if err := os.WriteFile(elsewhere, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if err := Replace(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		st, err := os.Lstat(path)
		if err != nil || !st.Mode().IsRegular() || st.Mode().Perm() != 0o644 {
			t.Fatalf("%v, %v", st, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got, _ := os.ReadFile(elsewhere); string(got) != "old" {
		t.Errorf("wrote through the link: %q", got)
	}
	// It fails, and leaves nothing behind.
	if err := os.Mkdir(filepath.Join(dir, "directory"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Replace(filepath.Join(dir, "directory"), []byte("x"), 0o600); err == nil {
		t.Error("replaced a directory")
	}
	if err := Replace(filepath.Join(dir, "missing/file"), []byte("x"), 0o600); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("%v, %v", left, err)
	}
}
