package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
)

func event(t *testing.T, i int, pad int) eventlog.Entry {
	t.Helper()
	row, err := json.Marshal(guard.Event{Key: guard.Key{Network: "n", Container: fmt.Sprintf("c%d", i), IfName: "eth0"}, Took: int64(i % 100), Says: strings.Repeat("x", pad)})
	if err != nil {
		t.Fatal(err)
	}
	return eventlog.Entry{At: time.Unix(int64(i), 0).UTC(), By: "guard", Of: "cni", What: "ADD", Name: fmt.Sprintf("e%d", i), Now: row}
}

// appended writes as the guard does: one line, by a process that opens and closes.
func appended(t *testing.T, dir string, e eventlog.Entry) {
	t.Helper()
	r, err := eventlog.Open(dir)
	if err == nil {
		err = r.Append(e)
		_ = r.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

// seen gives how often each line is on a record.
func seen(t *testing.T, dir string) map[string]int {
	t.Helper()
	out := map[string]int{}
	if bad, err := eventlog.Read(dir, func(e eventlog.Entry) error { out[e.Name]++; return nil }); err != nil || bad != 0 {
		t.Fatalf("%d bad, %v", bad, err)
	}
	return out
}

// TestDrainConcurrent: while many write and segments are full, every line comes to the disk
// once, and what was taken is removed.
func TestDrainConcurrent(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	from := s.file(guard.EventDir)
	var all sync.WaitGroup
	const writers, each = 8, 60
	for w := range writers {
		all.Go(func() {
			for i := range each {
				appended(t, from, event(t, w*each+i, 8000))
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for going := true; going; {
		select {
		case <-done:
			going = false
		case <-time.After(5 * time.Millisecond):
		}
		s.drains(t.Context())
	}
	got := seen(t, s.path("record"))
	for i := range writers * each {
		if n := got[fmt.Sprintf("e%d", i)]; n != 1 {
			t.Errorf("e%d is there %d times", i, n)
		}
	}
	if s.report.Adds.Count != writers*each || s.report.Adds.P50 == 0 {
		t.Errorf("%+v", s.report.Tally)
	}
	before, _ := eventlog.Segments(from)
	s.mu.Lock()
	s.now = time.Now().Add(time.Hour) //nolint:forbidigo // all files are quiet then, by the real clock
	s.mu.Unlock()
	s.drains(t.Context())
	after, _ := eventlog.Segments(from)
	if len(before) < 3 || len(after) != 1 || after[0] != before[len(before)-1] {
		t.Errorf("%v, then %v", before, after)
	}
	appended(t, from, event(t, 9999, 0))
	s.drains(t.Context())
	if seen(t, s.path("record"))["e9999"] != 1 {
		t.Error("what came after is not there")
	}
}

// TestDrainKilled: between the disk and the note of it, a kill makes lines appear twice. It
// loses none, and counts none twice.
func TestDrainKilled(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	from := s.file(guard.EventDir)
	for i := range 3 {
		appended(t, from, event(t, i, 0))
	}
	s.drains(t.Context())
	note := s.text("run/plumbline/guard/drained")
	for i := range 2 {
		appended(t, from, event(t, 3+i, 0))
	}
	s.drains(t.Context())
	s.write("run/plumbline/guard/drained", note, 0o600) // it did not come to the note
	s.again()
	if s.report.Adds.Count != 3 {
		t.Errorf("a new guard daemon tells %+v", s.report.Adds)
	}
	appended(t, from, event(t, 5, 0))
	s.drains(t.Context())
	got := seen(t, s.path("record"))
	if fmt.Sprint(got) != "map[e0:1 e1:1 e2:1 e3:2 e4:2 e5:1]" || s.report.Adds.Count != 6 {
		t.Errorf("%v: %+v", got, s.report.Adds)
	}
	// A note that makes no sense: all again, rather than nothing.
	s.write("run/plumbline/guard/drained", `{"taken":{"00000000.events":`, 0o600)
	s.again()
	s.drains(t.Context())
	if got := seen(t, s.path("record")); got["e0"] != 2 || got["e5"] != 2 {
		t.Errorf("%v", got)
	}
}

// TestDrainFull: on a full disk lines wait where they are, and come when there is room.
func TestDrainFull(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	from := s.file(guard.EventDir)
	if err := os.Mkdir(s.path("record"), 0o700); err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(s.path("record"), "00000000.events")
	if err := os.Symlink("/dev/full", full); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		appended(t, from, event(t, i, 0))
	}
	s.drains(t.Context())
	heading := int64(strings.Index(s.text("run/plumbline/guard/events/00000000.events"), "\n") + 1)
	if s.drain.Taken["00000000.events"] != heading || s.report.Adds.Count != 0 || !strings.Contains(s.drain.said, "no space") {
		t.Fatalf("%+v: %s", s.drain.Taken, s.drain.said)
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	s.drains(t.Context())
	if got := seen(t, s.path("record")); fmt.Sprint(got) != "map[e0:1 e1:1 e2:1]" || s.drain.said != "" {
		t.Errorf("%v: %s", got, s.drain.said)
	}
}

// TestDrainTorn: half a line is waited for; what is no line is left out.
func TestDrainTorn(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	from := s.file(guard.EventDir)
	appended(t, from, event(t, 0, 0))
	whole := s.text("run/plumbline/guard/events/00000000.events")
	half := len(whole) / 2
	s.write("run/plumbline/guard/events/00000000.events", whole+"garbage\n"+strings.Repeat("z", 2*pieceSize)+"\n"+whole[:half], 0o600)
	s.drains(t.Context())
	if got := seen(t, s.path("record")); fmt.Sprint(got) != "map[e0:1]" {
		t.Errorf("%v", got)
	}
	f, err := os.OpenFile(filepath.Join(from, "00000000.events"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(whole[half:])
	if err := errorsOf(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	s.drains(t.Context())
	if got := seen(t, s.path("record")); fmt.Sprint(got) != "map[e0:2]" {
		t.Errorf("%v", got)
	}
}

// TestDiscard: neither what was not taken goes, nor what somebody may still write to.
func TestDiscard(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.write("segment", "12345", 0o600)
	st, err := os.Stat(s.path("segment"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		taken int64
		after time.Duration
		goes  bool
	}{{4, time.Hour, false}, {5, 20 * time.Second, false}, {5, -time.Hour, false}, {5, time.Hour, true}} {
		d := drain{Taken: map[string]int64{"segment": c.taken}}
		if err := d.discard(s.path("segment"), "segment", st.ModTime().Add(c.after)); err != nil || (s.text("segment") == "-") != c.goes {
			t.Errorf("%+v: %q, %v", c, s.text("segment"), err)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add([]byte(`00000000 {}`))
	f.Add([]byte(`352441c2 abc`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _ = eventlog.Parse(raw)
		end := int64(7)
		for _, l := range lines(raw, 7, len(raw)%2 == 0) {
			if l.end <= end || l.end > 7+int64(len(raw)) {
				t.Fatalf("a line that ends at %d after %d", l.end, end)
			}
			end = l.end
		}
	})
}
