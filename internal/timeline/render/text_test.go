package render

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/timeline"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func text(t *testing.T, s *timeline.Story, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		story *timeline.Story
		o     Options
	}{
		"seed000.txt":  {seed(), Options{Files: kubeletLog}},
		"looping.txt":  {looping(), Options{Files: kubeletLog}},
		"boxes1.txt":   {many(1), Options{Files: manyFiles}},
		"boxes2.txt":   {many(2), Options{Files: manyFiles}},
		"boxes3.txt":   {many(3), Options{Files: manyFiles}},
		"boxes6.txt":   {many(6), Options{Files: manyFiles}},
		"wide6.txt":    {many(6), Options{Files: manyFiles, Width: 160}},
		"color.txt":    {seed(), Options{Files: kubeletLog, Color: true}},
		"hostile.txt":  {hostile(), Options{Files: hostileFiles}},
		"empty.txt":    {&timeline.Story{Pod: "shop/none"}, Options{}},
		"backward.txt": {backward(), Options{Files: kubeletLog}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := text(t, c.story, c.o)
			golden(t, name, got)
			if !bytes.Equal(got, text(t, c.story, c.o)) {
				t.Error("twice is not the same")
			}
			if !c.o.Color {
				harmlessText(t, got, c.o.width())
			}
		})
	}
}

// backward has the victim's lane left of the culprit's.
func backward() *timeline.Story {
	s := seed()
	s.Sandboxes[0], s.Sandboxes[1] = s.Sandboxes[1], s.Sandboxes[0]
	return s
}

// harmlessText fails if a line is wider than it may be, or holds what a terminal obeys.
func harmlessText(t *testing.T, text []byte, width int) {
	t.Helper()
	for l := range strings.Lines(string(text)) {
		l = strings.TrimSuffix(l, "\n")
		if cells(l) > width {
			t.Errorf("%d columns: %q", cells(l), l)
		}
		for _, r := range l {
			if !harmless(r) {
				t.Errorf("%q in %q", r, l)
			}
		}
		if strings.Contains(l, "eyJ") {
			t.Errorf("a token in %q", l)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add(nasty, "41857f70", int64(1513132069), 80, uint8(20), uint8(3))
	f.Add("中文中文", "", int64(0), 0, uint8(1), uint8(0))
	f.Fuzz(func(t *testing.T, foreign, id string, at int64, width int, kind, boxes uint8) {
		o := Options{Width: width % 300, Files: []timeline.File{{Name: foreign}}}
		harmlessText(t, text(t, fuzzed(foreign, id, at, kind, boxes), o), o.width())
	})
}
