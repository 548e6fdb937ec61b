package host

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// A file that comes, changes or goes is told at once.
func TestWatchTellsOfFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	conf, results := filepath.Join(root, "etc/cni/net.d"), filepath.Join(root, "var/lib/cni/results")
	for _, d := range []string{conf, results} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h := New(Options{Root: root})
	told := make(chan []model.Table, 64)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Watch(ctx, func(ts ...model.Table) { told <- ts }) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	hears := func(what string, want model.Table, do func() error) {
		t.Helper()
		end := time.After(5 * time.Second)
		for {
			if err := do(); err != nil {
				t.Fatal(err)
			}
			select {
			case ts := <-told:
				if slices.Contains(ts, want) {
					return
				}
			case <-end:
				t.Fatalf("%s is not told", what)
			case <-time.After(50 * time.Millisecond): // it may not have listened yet
			}
		}
	}
	hears("a configuration", model.CNIConfigs, func() error { return os.WriteFile(filepath.Join(conf, "10.conflist"), []byte("{}"), 0o600) })
	hears("a result", model.CNIResults, func() error { return os.WriteFile(filepath.Join(results, "net-c-eth0"), nil, 0o600) })
	hears("its end", model.CNIResults, func() error { return os.RemoveAll(filepath.Join(results, "net-c-eth0")) })
}

// The first pod of a node makes libcni's directory: its record is there before anybody watches.
func TestWatchTellsOfDirectoriesThatAppear(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	conf, results, made := filepath.Join(root, "etc/cni/net.d"), filepath.Join(root, "var/lib/cni/results"), filepath.Join(root, "made")
	for _, d := range []string{conf, filepath.Dir(results), made} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(made, "net-c-eth0"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	told := make(chan []model.Table, 64)
	h := New(Options{Root: root})
	go func() { _ = h.Watch(t.Context(), func(ts ...model.Table) { told <- ts }) }()
	select {
	case <-told: // it watches
	case <-time.After(5 * time.Second):
		t.Fatal("the first directory is not told")
	}
	if err := os.Rename(made, results); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(conf, "10.conflist"), nil, 0o600); err != nil { // wakes it before lookAgain
		t.Fatal(err)
	}
	for end := time.After(5 * time.Second); ; {
		select {
		case ts := <-told:
			if slices.Contains(ts, model.CNIResults) {
				return
			}
		case <-end:
			t.Fatal("the records of the directory are not told")
		}
	}
}

func FuzzDescriptors(f *testing.F) {
	f.Add(make([]byte, 16))
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255})
	f.Fuzz(func(_ *testing.T, b []byte) { descriptors(b) })
}
