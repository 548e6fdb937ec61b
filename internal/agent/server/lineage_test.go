package server

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestLineage(t *testing.T) {
	type write struct {
		account  string
		revision uint64
		after    time.Duration
	}
	for name, c := range map[string]struct {
		writes   []write
		restored bool
		from     uint64
	}{
		"grows":                     {writes: []write{{"a", 100, 0}, {"a", 200, time.Minute}}},
		"the same twice":            {writes: []write{{"a", 100, 0}, {"a", 100, time.Minute}}},
		"went back":                 {writes: []write{{"a", 200, 0}, {"a", 100, time.Minute}}, restored: true, from: 200},
		"went back, then on":        {writes: []write{{"a", 200, 0}, {"a", 100, time.Minute}, {"a", 300, time.Hour}}, restored: true, from: 200},
		"said for a day":            {writes: []write{{"a", 200, 0}, {"a", 100, time.Minute}, {"a", 300, 25 * time.Hour}}},
		"bumped":                    {writes: []write{{"a", 200, 0}, {"a", 1_000_000_200, 15 * time.Minute}}, restored: true, from: 200},
		"a busy cluster":            {writes: []write{{"a", 200, 0}, {"a", 900_000_000, 30 * 24 * time.Hour}}},
		"another cluster":           {writes: []write{{"a", 200, 0}, {"b", 100, time.Minute}}},
		"a revision that is none":   {writes: []write{{"a", 200, 0}, {"a", 0, time.Minute}}},
		"an account that is none":   {writes: []write{{"a", 200, 0}, {"", 100, time.Minute}}},
		"bumped, clock set back":    {writes: []write{{"a", 200, 0}, {"a", 1_000_000_200, -time.Hour}}, restored: true, from: 200},
		"grows, clock set back":     {writes: []write{{"a", 200, 0}, {"a", 90_000_000, -time.Hour}}},
		"another cluster, and back": {writes: []write{{"a", 200, 0}, {"b", 100, time.Minute}, {"b", 90, time.Hour}}, restored: true, from: 100},
	} {
		t.Run(name, func(t *testing.T) {
			record, now := filepath.Join(t.TempDir(), "events"), noon
			for _, w := range c.writes {
				now = noon.Add(w.after)
				newLineage(record, slog.New(slog.DiscardHandler)).note(w.account, w.revision, now) // a new agent each time: it must be on the disk
			}
			var m model.Machine
			l := newLineage(record, slog.New(slog.DiscardHandler))
			if l.complete(&m, model.At(now)); !m.Restored.IsZero() || m.Revision != 0 {
				t.Errorf("before the API server has answered: %+v", m)
			}
			last := c.writes[len(c.writes)-1]
			l.note(last.account, last.revision, now)
			l.complete(&m, model.At(now))
			if m.Restored.IsZero() == c.restored || c.restored && m.Restored.From != c.from {
				t.Errorf("got %+v, want %v from %d", m.Restored, c.restored, c.from)
			}
		})
	}
}

// A damaged file must not keep the agent from starting, or say anything.
func TestLineageDamaged(t *testing.T) {
	dir := t.TempDir()
	for _, content := range []string{"", "{", `{"version":9,"account":"a","revision":900}`, "\x00\xff"} {
		if err := os.WriteFile(filepath.Join(dir, "api-server.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		l := newLineage(filepath.Join(dir, "events"), slog.New(slog.DiscardHandler))
		l.note("a", 100, noon)
		var m model.Machine
		if l.complete(&m, model.At(noon)); !m.Restored.IsZero() {
			t.Errorf("%q: restored", content)
		}
	}
}
