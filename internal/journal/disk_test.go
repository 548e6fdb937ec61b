package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"plumbline.dev/plumbline/internal/repair"
)

// faulty is a disk that fails when told.
type faulty struct {
	*os.File
	write, sync error
	takes       int // bytes that it still takes
}

func (f *faulty) Write(b []byte) (int, error) {
	if f.write == nil {
		return f.File.Write(b)
	}
	n, err := f.File.Write(b[:f.takes])
	return n, errors.Join(err, f.write)
}

func (f *faulty) Sync() error { return errors.Join(f.File.Sync(), f.sync) }

func TestADiskThatFailedIsNotTrustedAgain(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]faulty{
		"fsync":      {sync: syscall.EIO},
		"disk full":  {write: syscall.ENOSPC, takes: 20},
		"no byte":    {write: syscall.EIO},
		"both wrong": {write: syscall.EIO, sync: syscall.EIO, takes: 3},
	} {
		state := t.TempDir()
		es := someEntries(3)
		kept(t, state, "a", es[0])
		j := opened(t, state, "a")
		disk := broken
		disk.File = j.file.(*os.File)
		j.file = &disk
		if err := j.Append(es[1]); !errors.Is(err, errDisk) {
			t.Errorf("%s: %v", name, err)
		}
		disk.write, disk.sync = nil, nil // and now it says that all is well
		if err := j.Append(es[2]); !errors.Is(err, errDisk) {
			t.Errorf("%s, the next: %v", name, err)
		}
		if got := j.Entries(); len(got) != 1 {
			t.Errorf("%s: %d entries in memory", name, len(got))
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		again := opened(t, state, "a")
		if got := again.Entries(); !reflect.DeepEqual(got, es[:1]) || again.Torn() != 0 {
			t.Errorf("%s: %d entries on the disk, %d bytes torn", name, len(got), again.Torn())
		}
		if err := again.Append(es[2]); err != nil {
			t.Errorf("%s: opened again: %v", name, err)
		}
	}
}

// unreadable is silent once, and then looks like the end.
type unreadable struct {
	good   *bytes.Reader
	silent bool
}

func (u *unreadable) Read(b []byte) (int, error) {
	n, err := u.good.Read(b)
	if n == 0 && !u.silent {
		u.silent, err = true, syscall.EIO
	}
	return n, err
}

// A disk that does not answer must not be taken for the end of the log: the rest would
// be cut off.
func TestADiskThatDoesNotAnswerIsNoTornTail(t *testing.T) {
	t.Parallel()
	log := readLog(t, kept(t, t.TempDir(), "a", someEntries(3)...))
	for cut := range len(log) {
		r := newReader(&unreadable{good: bytes.NewReader(log[:cut])}, maxLog)
		_, err := r.head()
		if err == nil {
			_, err = r.entries()
		}
		if !errors.Is(err, syscall.EIO) {
			t.Fatalf("silent after %d bytes: %v", cut, err)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	dir := kept(t, state, "a")
	j := opened(t, state, "a")
	text := func(n int) repair.Entry {
		e := repair.Entry{Outcome: repair.Done}
		empty, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		e.Why = strings.Repeat("x", n-len(empty)-len(`,"why":""`))
		return e
	}
	if err := j.Append(text(maxRecord + 1)); err == nil || errors.Is(err, errDisk) {
		t.Errorf("a record that is too long: %v", err)
	}
	if err := j.Append(repair.Entry{Was: json.RawMessage(`{`)}); err == nil || errors.Is(err, errDisk) {
		t.Errorf("no JSON: %v", err)
	}
	if err := j.Append(repair.Entry{At: 1 << 60}); err == nil || errors.Is(err, errDisk) {
		t.Errorf("a time that cannot be read again: %v", err)
	}
	if err := j.Append(text(maxRecord)); err != nil {
		t.Errorf("the longest record: %v", err)
	}
	size := j.size
	j.size = maxLog - 8*int64(maxFrame)
	if err := j.Append(repair.Entry{Outcome: repair.Intent}); err == nil {
		t.Error("an intent that leaves no room for its outcome was taken")
	}
	j.size = maxLog - 10
	if err := j.Append(repair.Entry{Outcome: repair.Done}); err == nil {
		t.Error("a full log took another record")
	}
	j.size = size
	if err := errors.Join(j.Append(repair.Entry{Outcome: repair.Done}), j.Close()); err != nil {
		t.Error(err)
	}
	if got := opened(t, state, "a").Entries(); len(got) != 2 || len(got[0].Why) < maxRecord-200 {
		t.Errorf("%d entries", len(got))
	}
	kept(t, state, "b")
	if err := os.Truncate(filepath.Join(filepath.Dir(dir), "b", logFile), maxLog+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(state, guid, "b"); err == nil || errors.Is(err, errDamaged) {
		t.Errorf("a log without bounds was read: %v", err)
	}
	h := head{Journal: format, Size: maxPlan + 1}
	first, _, err := frame(0, h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newReader(bytes.NewReader(first), maxLog).head(); err == nil {
		t.Error("a plan without bounds was taken")
	}
	kept(t, state, "c")
	if err := os.Remove(filepath.Join(filepath.Dir(dir), "c", planFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(state, guid, "c"); !errors.Is(err, errDamaged) {
		t.Errorf("no plan: %v", err)
	}
}
