package ownerdb

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

// rewrite replaces text in a record, with a valid checksum.
func rewrite(t *testing.T, file, old, now string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	body := strings.Replace(string(data[sumLength:]), old, now, 1)
	if body == string(data[sumLength:]) {
		t.Fatalf("%s has no %s: %s", file, old, data)
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, "%08x %s", crc32.ChecksumIEEE([]byte(body)), body), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Records of a newer version are unknown: no DEL is late because of them, and while the
// counter is of a newer version no ADD is recorded. That there may be a newer owner is an error.
func TestNewerIsUnknown(t *testing.T) {
	b, dir := opened(t)
	first, err := b.Begin(attachment("a", "web"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Begin(attachment("b", "web")); err != nil {
		t.Fatal(err)
	}
	rewrite(t, filepath.Join(dir, ownerOf(attachment("b", "web").Key)), `"version":1`, `"version":2`)
	if o, err := b.Newest(first.Name()); !errors.Is(err, errNewer) || o == nil || o.Container != "a" {
		t.Errorf("the newest is %+v, %v", o, err)
	}
	rewrite(t, filepath.Join(dir, indexOf(first.Name())), `"owned":[`, `"owned":7,"others":[`)
	rewrite(t, filepath.Join(dir, indexOf(first.Name())), `"version":1`, `"version":2`)
	if o, err := b.Newest(first.Name()); o != nil || !errors.Is(err, errNewer) {
		t.Errorf("the newest is %+v, %v", o, err)
	}
	rewrite(t, filepath.Join(dir, countFile), `"version":1`, `"version":2`)
	if o, err := b.Begin(attachment("c", "web")); !errors.Is(err, errNewer) {
		t.Errorf("recorded %+v, %v", o, err)
	}
}

// Records without a version have the same content, and a DEL that an earlier version queued
// is still carried out, once.
func TestEarlierIsRead(t *testing.T) {
	b, dir := opened(t)
	first, err := b.Begin(attachment("a", "web"))
	if err != nil {
		t.Fatal(err)
	}
	rewrite(t, filepath.Join(dir, ownerOf(first.Key)), `"version":1,`, ``)
	if o, err := b.Owner(first.Key); err != nil || o == nil || o.Seq != first.Seq {
		t.Errorf("%+v, %v", o, err)
	}
	l := guard.QueuedDel{Call: guard.Call{Container: "z", IfName: "eth0"}, At: 7}
	if err := b.Queue(l); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, queueOf(l.Key()))
	old := filepath.Join(dir, oldQueue+strings.TrimPrefix(queueOf(l.Key()), queueFile))
	if err := os.Rename(file, old); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := b.Queued(); err != nil || len(got) != 1 || got[0] != l {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if err := os.Rename(file, old); err != nil {
		t.Fatal(err)
	}
	if err := b.Unqueue(l.Key()); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Queued(); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
