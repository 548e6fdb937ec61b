package loggen

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func allTemplates(t *testing.T) map[string]*template {
	t.Helper()
	all, err := templates()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// No line is invented: with the recording's own names and times, a template's lines come
// out as they were recorded.
func TestLinesAreRecorded(t *testing.T) {
	t.Parallel()
	for _, m := range allTemplates(t) {
		own := values{}
		for _, s := range m.slots {
			if s.form == plain {
				own[s.role] = s.value
			}
		}
		for _, p := range m.parts {
			for i := range p.lines {
				l := &p.lines[i]
				if got := (&History{}).write(m, l, &Node{}, own, make([]string, len(m.slots)), 0); got != l.text {
					t.Errorf("%s: recorded\n%s\nplayed\n%s", m.Name, l.text, got)
				}
			}
		}
	}
}

// Half of the templates are of recordings that the parsers' own tests do not use.
func TestHalfIsUnseen(t *testing.T) {
	t.Parallel()
	unseen, seen, bytes := 0, 0, 0
	for _, m := range allTemplates(t) {
		if m.InTests {
			seen++
		} else {
			unseen++
		}
		for _, p := range m.parts {
			for _, l := range p.lines {
				bytes += len(l.text)
			}
		}
		if m.Lines() == 0 || m.Origin == "" || m.Recorded == "" {
			t.Errorf("%s has no lines or no origin", m.Name)
		}
	}
	if unseen < seen || bytes > 1<<20 {
		t.Errorf("%d templates are unseen, %d are not; %d bytes", unseen, seen, bytes)
	}
}

// Of what a scene names, nothing of the recording is left, and nothing of today is left of
// the times.
func TestNamesAndTimesAreReplaced(t *testing.T) {
	t.Parallel()
	h, err := Make(Plan{Seed: 1, Nodes: 4, Lasts: time.Hour, Begin: time.Date(2021, 3, 4, 5, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range allTemplates(t) {
		n := h.Nodes[0]
		h.lines = nil
		h.play(m, n, 0, h.life(h.pod(), n, 0, time.Minute).with(values{"other": "rack9"}))
		for _, w := range h.lines {
			for _, s := range m.slots {
				if len(s.value) >= 11 && strings.Contains(w.text, s.value) {
					t.Errorf("%s: %s %s is left in %.200s", m.Name, s.role, s.value, w.text)
				}
			}
			if strings.Contains(w.text, "2026-11-15") || strings.Contains(w.text, "2017-12-1") {
				t.Errorf("%s: the recording's day is left in %.300s", m.Name, w.text)
			}
		}
	}
}

// A seed gives the same history again.
func TestSeedGivesSame(t *testing.T) {
	t.Parallel()
	var files [2]map[string][]byte
	for i := range files {
		h, err := Make(Default(7, 5))
		if err != nil {
			t.Fatal(err)
		}
		files[i] = h.Files()
		if s := h.Shares(); float64(s.Signal) > 0.05*float64(s.Lines) || s.Signal == 0 || s.Dropped == 0 || s.Dropped > s.Lines/50 {
			t.Errorf("%+v", s)
		}
	}
	names := slices.Sorted(maps.Keys(files[0]))
	if !slices.Equal(names, slices.Sorted(maps.Keys(files[1]))) {
		t.Fatal("other files")
	}
	for _, n := range names {
		if !bytes.Equal(files[0][n], files[1][n]) {
			t.Errorf("%s differs", n)
		}
	}
}
