package journal_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline/journal"
)

var kubelet = []string{"_SYSTEMD_UNIT=kubelet.service"}

// matching gives the entries of a list that have one of the fields.
func matching(in []exported, match []string) (out []exported) {
	for _, e := range in {
		if slices.ContainsFunc(match, func(m string) bool { return slices.Contains(e.fields, m) }) {
			out = append(out, e)
		}
	}
	return out
}

func openAll(t testing.TB, name string) (out []*journal.File) {
	t.Helper()
	for _, b := range journals(t, name) {
		out = append(out, open(t, b))
	}
	return out
}

// cursors gives the entries alone. No field is asked for, so that none is read.
func cursors(t testing.TB, q journal.Query, files ...*journal.File) (out []exported) {
	t.Helper()
	q.Fields = []string{}
	return read(t, q, files...)
}

func withoutFields(in []exported) (out []exported) {
	for _, e := range in {
		out = append(out, exported{cursor: e.cursor})
	}
	return out
}

// Matches find the same entries through the hash table as a search through all of them.
func TestMatch(t *testing.T) {
	t.Parallel()
	for _, x := range fixtures {
		want, all := golden(t, x.name), journals(t, x.name)
		for _, match := range [][]string{
			kubelet,
			{"_SYSTEMD_UNIT=kubelet.service", "SYSLOG_IDENTIFIER=containerd"},
			{"_SYSTEMD_UNIT=kubelet.service", "SYSLOG_IDENTIFIER=kubelet", "_COMM=kubelet"},
			{"TAG=two", "_SYSTEMD_UNIT=crio.service"},
			{"_SYSTEMD_UNIT=crio.service"},
			{"_SYSTEMD_UNIT"},
		} {
			var files []*journal.File
			for _, b := range all {
				files = append(files, open(t, b))
			}
			got := cursors(t, journal.Query{Match: match, MaxField: 1024}, files...)
			if x.writers > 1 { // which of two boots is the first is not known to journalctl either
				slices.SortFunc(got, func(a, b exported) int { return strings.Compare(a.cursor, b.cursor) })
				slices.SortFunc(want, func(a, b exported) int { return strings.Compare(a.cursor, b.cursor) })
			}
			compareEntries(t, got, withoutFields(matching(want, match)))
			for _, f := range files {
				if len(f.Damage()) > 0 {
					t.Errorf("%s, %q: %v", x.name, match, f.Damage())
				}
			}
		}
	}
}

// Since finds the first entry at or after a time; all that were written after it follow.
func TestSince(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"zstd-compact", "lz4", "xz"} {
		b, want := journals(t, name)[0], golden(t, name)
		var times []time.Time
		for e := range entries(t, journal.Query{Fields: []string{}}, open(t, b)) {
			times = append(times, e.Realtime())
		}
		for i := range 30 { // at every later boot the clock was three seconds behind
			got := cursors(t, journal.Query{Since: times[i]}, open(t, b))
			compareEntries(t, got, withoutFields(want[i:]))
			got = cursors(t, journal.Query{Since: times[i].Add(time.Microsecond), Match: kubelet}, open(t, b))
			compareEntries(t, got, withoutFields(matching(want[i+1:], kubelet)))
		}
		if got := cursors(t, journal.Query{Since: times[len(times)-1].AddDate(1, 0, 0)}, open(t, b)); len(got) > 0 {
			t.Errorf("%d entries of the future", len(got))
		}
	}
}

// Only the fields that are asked for are given, and long ones are cut.
func TestFields(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"zstd", "lz4-compact", "xz", "writers"} {
		files := openAll(t, name)
		cut := 0
		for e := range entries(t, journal.Query{Fields: []string{"MESSAGE", "COREDUMP"}, MaxField: 100}, files...) {
			for _, f := range e.Fields {
				if f.Name != "MESSAGE" && f.Name != "COREDUMP" || len(f.Value) > 100 || f.Cut && len(f.Value) < 100 {
					t.Fatalf("%+v", f)
				}
				if f.Cut {
					cut++
				}
			}
			if e.Value("_HOSTNAME") != nil || e.Value("MESSAGE") == nil {
				t.Errorf("%+v", e)
			}
		}
		said := 0
		for _, f := range files {
			for _, d := range f.Damage() {
				said += d.Count
			}
		}
		if cut == 0 || cut != said {
			t.Errorf("%d fields were cut, %d are reported", cut, said)
		}
	}
}

// Each entry is given once, whatever copies there are.
func TestCopies(t *testing.T) {
	t.Parallel()
	files := append(openAll(t, "rotated"), openAll(t, "rotated")...)
	slices.Reverse(files)
	compareEntries(t, read(t, journal.Query{}, files...), golden(t, "rotated"))
}

func TestContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	r := journal.NewReader(journal.Query{}, openAll(t, "rotated")...)
	_, err := r.Next(ctx)
	must(t, err)
	cancel()
	if _, err = r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	b := bytes.Clone(journals(t, "zstd")[0][:4096])
	b[12] |= 0x40
	if _, err := journal.Open(bytes.NewReader(b), 4096); err == nil || !strings.Contains(err.Error(), "0x40") {
		t.Errorf("a flag that is not known: %v", err)
	}
	if _, err := journal.Open(strings.NewReader(strings.Repeat("x", 4096)), 4096); err == nil {
		t.Error("a text was taken for a journal file")
	}
}
