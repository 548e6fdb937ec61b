package eventlog_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/eventlog"
)

func sealed(body string) string {
	return fmt.Sprintf("%08x %s\n", crc32.ChecksumIEEE([]byte(body)), body)
}

// The directory and the segments of version 1 are taken over and read.
func TestVersion1IsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := filepath.Join(dir, "flight")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(old, "00000007.flight"), []byte(sealed(`{"name":"a"}`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, filepath.Join(dir, "events")).Append(entry("b")); err != nil {
		t.Fatal(err)
	}
	if got, bad := read(t, filepath.Join(dir, "events")); strings.Join(got, " ") != "a b" || bad != 0 {
		t.Errorf("%v, %d bad", got, bad)
	}
	text, err := os.ReadFile(filepath.Join(dir, "events", "00000008.events"))
	if err != nil || !strings.HasPrefix(string(text), sealed(`{"format":"plumbline.dev/eventlog","version":2}`)) {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old directory: %v", err)
	}
}

// A segment of a newer version is named, not read, and not written to.
func TestNewerVersionIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	newer := sealed(`{"format":"plumbline.dev/eventlog","version":3}`) + sealed(`{"name":"a"}`)
	if err := os.WriteFile(filepath.Join(dir, "00000003.events"), []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir).Append(entry("b")); err != nil {
		t.Fatal(err)
	}
	var got []string
	bad, err := eventlog.Read(dir, func(e eventlog.Entry) error {
		got = append(got, e.Name)
		return nil
	})
	if strings.Join(got, " ") != "b" || bad != 0 || !errors.Is(err, eventlog.ErrNewer) || !strings.Contains(err.Error(), "00000003.events") {
		t.Errorf("%v, %d bad, %v", got, bad, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "00000003.events")); err != nil || string(text) != newer {
		t.Errorf("%s, %v", text, err)
	}
}
