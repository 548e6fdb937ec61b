package eventlog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
)

func read(t *testing.T, dir string) (names []string, bad int) {
	t.Helper()
	bad, err := eventlog.Read(dir, func(e eventlog.Entry) error {
		names = append(names, e.Name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, bad
}

func open(t *testing.T, dir string) *eventlog.Record {
	t.Helper()
	r, err := eventlog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func entry(name string) eventlog.Entry {
	return eventlog.Entry{At: time.Unix(1, 0).UTC(), By: "agent", What: "new", Of: "links", Name: name}
}

// At whatever byte a crash stops, entries before and after it are readable.
func TestCrashAtEveryByte(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := open(t, dir).Append(entry("a"), entry("b")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "00000000.events")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head := strings.Index(string(whole), "\n") + 1
	first := head + strings.Index(string(whole[head:]), "\n") + 1
	for cut := range len(whole) + 1 {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "00000000.events"), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := open(t, dir).Append(entry("c")); err != nil {
			t.Fatal(err)
		}
		want := "c"
		if cut >= first-1 { // a line that lacks only its line break is complete
			want = "a c"
		}
		if cut >= len(whole)-1 {
			want = "a b c"
		}
		if got, _ := read(t, dir); strings.Join(got, " ") != want {
			t.Fatalf("cut at %d of %d: %v, want %s", cut, len(whole), got, want)
		}
	}
}

func TestForeignLinesDoNotCount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := open(t, dir)
	if err := r.Append(entry("a")); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "00000000.events"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, "00000000 {}\nnonsense\n%s\n", strings.Repeat("x", 200<<10))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Append(entry("b")); err != nil {
		t.Fatal(err)
	}
	if got, bad := read(t, dir); strings.Join(got, " ") != "a b" || bad != 3 {
		t.Errorf("%v, %d bad", got, bad)
	}
}

// The log never exceeds its bound, and keeps the newest entries.
func TestBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := open(t, dir)
	long := strings.Repeat("x", 60<<10)
	const n = 400
	for i := range n {
		e := entry(fmt.Sprint(i))
		e.Note = long
		if err := r.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	var size int64
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		st, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += st.Size()
	}
	if size > 17<<20 || len(files) > 16+1 { // and the lock
		t.Errorf("%d bytes in %d segments", size, len(files))
	}
	if got, bad := read(t, dir); bad != 0 || len(got) < 200 || got[len(got)-1] != fmt.Sprint(n-1) {
		t.Errorf("%d entries, %d bad, the last is %s", len(got), bad, got[len(got)-1])
	}
	e := entry("huge")
	e.Note = strings.Repeat("x", 1<<20)
	if err := r.Append(e); err != nil {
		t.Fatal(err)
	}
	if got, bad := read(t, dir); bad != 0 || got[len(got)-1] != "huge" {
		t.Errorf("an entry that is too long: %d bad, the last is %s", bad, got[len(got)-1])
	}
}

// Two processes may write one log: each line is one write.
// Two writers that begin segments side by side, as the agent and the guard do, lose nothing.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	const each = 15_000
	dir := t.TempDir()
	var wg sync.WaitGroup
	for w := range 2 {
		r := open(t, dir)
		wg.Go(func() {
			for i := range each {
				e := entry(fmt.Sprint(w, " ", i))
				e.Note = strings.Repeat("x", 200)
				if err := r.Append(e); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	names, err := eventlog.Segments(dir)
	if err != nil || len(names) < 4 {
		t.Fatalf("%d segments: %v", len(names), err)
	}
	got, bad := read(t, dir)
	slices.Sort(got)
	if n := len(slices.Compact(got)); n != 2*each || bad != 0 {
		t.Errorf("%d entries, %d bad", n, bad)
	}
}

// What bounds the log removes segments under one who still writes to them: he goes on in the newest.
func TestWriterFollows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	slow, fast := open(t, dir), open(t, dir)
	for i := range 20 { // each fills a segment
		for range 17 {
			e := entry(fmt.Sprint("fast ", i))
			e.Note = strings.Repeat("y", 62<<10)
			if err := fast.Append(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := slow.Append(entry("slow")); err != nil {
		t.Fatal(err)
	}
	if got, bad := read(t, dir); bad != 0 || got[len(got)-1] != "slow" {
		t.Errorf("%d entries, %d bad, the last is %q", len(got), bad, got[len(got)-1])
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("00000000 {}\n"))
	f.Add([]byte("\n\n x y"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "00000000.events"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := eventlog.Read(dir, func(eventlog.Entry) error { return nil }); err != nil {
			t.Fatal(err)
		}
	})
}
