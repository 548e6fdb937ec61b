package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImageIsWrittenCompletelyOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range []string{"--binary x", "--ref x:1 --out y", "--binary x --ref x:1", "--binary x --ref x:1 --out y z"} {
		if err := run(t.Context(), env{args: append([]string{"image"}, strings.Fields(args)...)}); !errors.Is(err, errUsage) {
			t.Errorf("%s: %v", args, err)
		}
	}
	script, out := filepath.Join(dir, "script"), filepath.Join(dir, "out.tar")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), env{args: []string{"image", "--binary", script, "--ref", "x:1", "--out", out}}); err == nil {
		t.Error("a script was accepted as a static program")
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an archive was written: %v", err)
	}
}

func TestAgentsRefusesUsageErrorsWithoutALab(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"--nope", "unexpected"} {
		if err := run(t.Context(), env{args: append([]string{"agents"}, strings.Fields(args)...)}); !errors.Is(err, errUsage) {
			t.Errorf("%s: %v", args, err)
		}
	}
	var out bytes.Buffer
	if err := run(t.Context(), env{args: []string{"agents", "--help"}, stdout: &out}); err != nil || !strings.Contains(out.String(), "--binary") {
		t.Errorf("help: %v, %s", err, out.String())
	}
}
