package term

import (
	"bytes"
	"testing"
)

func TestColour(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"error  PL1001": "\x1b[31merror\x1b[0m  PL1001",
		"warn":          "\x1b[33mwarn\x1b[0m",
		"err…":          "err…",
		"other":         "other",
	} {
		severity := line
		if line == "error  PL1001" || line == "err…" {
			severity = "error"
		}
		if got := painted(line, severity); got != want {
			t.Errorf("%q", got)
		}
	}
	s := &Session{Env: Env{Stdout: &bytes.Buffer{}, Getenv: func(string) string { return "" }}}
	if s.coloured() {
		t.Error("a pipe is coloured")
	}
}

func TestVerbosity(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{"true": true, "6": true, "1": true, "0": false, "false": false} {
		var v bool
		if err := (*verbosity)(&v).Set(in); err != nil || v != want {
			t.Errorf("-v=%s: %v, %v", in, v, err)
		}
	}
	if (*verbosity)(new(bool)).Set("much") == nil {
		t.Error("-v=much")
	}
}
