// Package termtest shows to tests what a person sees on a terminal of 80 columns.
package termtest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"plumbline.dev/plumbline/internal/cli/term"
)

var update = flag.Bool("update", false, "rewrite the screens")

// Shown gives what show prints. No line may be longer than the terminal is wide, and no escape
// may reach it.
func Shown(t *testing.T, show func(sess *term.Session)) string {
	t.Helper()
	var out bytes.Buffer
	show(&term.Session{Env: term.Env{Stdout: &out, Stderr: &out, Columns: 80, Getenv: func(string) string { return "" }}, Program: "kubectl plumbline"})
	for l := range strings.Lines(out.String()) {
		if utf8.RuneCountInString(strings.TrimSuffix(l, "\n")) > 80 {
			t.Errorf("longer than 80: %q", l)
		}
		if strings.ContainsRune(l, 0x1b) {
			t.Errorf("an escape reaches the terminal: %q", l)
		}
	}
	return out.String()
}

// Screen compares what was printed with testdata/screens/NAME.txt; -update rewrites the file.
func Screen(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "screens", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || got != string(want) {
		t.Errorf("%s: %v\ngot:\n%s\nwant:\n%s", name, err, got, want)
	}
}
