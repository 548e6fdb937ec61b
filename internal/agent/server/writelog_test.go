package server

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"plumbline.dev/plumbline/internal/eventlog"
)

// Events that cannot be written are counted, and the log says so once it can be written again.
func TestLostEventsAreCounted(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "events")
	must(t, os.WriteFile(dir, nil, 0o600)) // no directory
	w := logWriter{Server: New(Config{Node: "n1", Log: slog.New(slog.DiscardHandler), Now: now, Record: dir})}
	for i := range 3 {
		w.write(change{Entry: eventlog.Entry{By: "agent", Name: fmt.Sprint("a", i)}})
	}
	must(t, os.Remove(dir))
	w.write(change{Entry: eventlog.Entry{By: "agent", Name: "b"}})
	w.write(change{Entry: eventlog.Entry{By: "agent", Name: "c"}})
	w.close()
	var got []string
	bad, err := eventlog.Read(dir, func(e eventlog.Entry) error {
		got = append(got, e.What+" "+e.Name+e.Note)
		return nil
	})
	if want := `[" b" "lost 3 events could not be written" " c"]`; err != nil || bad != 0 || fmt.Sprintf("%q", got) != want {
		t.Errorf("%q, %d bad, %v; want %s", got, bad, err, want)
	}
}
