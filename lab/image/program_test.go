package image

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// built compiles a program of one line, with the given environment.
func built(t *testing.T, source string, env ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/prog\n\ngo 1.26\n", "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", "prog", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "GOFLAGS=-buildvcs=false", "GOWORK=off")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	return filepath.Join(dir, "prog")
}

func TestProgramIsLabelledWithItsVersion(t *testing.T) {
	t.Parallel()
	file := built(t, "package main\n\nfunc main() {}\n", "CGO_ENABLED=0")
	img, err := Program("example.com/prog:1", file, "serve")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "prog.tar")
	if err := img.Write(out); err != nil {
		t.Fatal(err)
	}
	var config struct {
		Architecture string
		Config       struct {
			Entrypoint, Cmd []string
			Labels          map[string]string
		}
	}
	for name, b := range untar(t, read(t, out)) {
		if strings.HasSuffix(name, ".json") && name != "manifest.json" {
			if err := json.Unmarshal(b, &config); err != nil {
				t.Fatal(err)
			}
		}
	}
	if config.Architecture != runtime.GOARCH {
		t.Errorf("for %q, want %q", config.Architecture, runtime.GOARCH)
	}
	if c := config.Config; c.Entrypoint[0] != "/prog" || c.Cmd[0] != "serve" {
		t.Errorf("starts %q %q", c.Entrypoint, c.Cmd)
	}
	if got := config.Config.Labels["org.opencontainers.image.version"]; got != "(devel)" {
		t.Errorf("version label is %q", got)
	}
	if !bytes.Equal(img.Binary, read(t, file)) {
		t.Error("the image's binary is not the file's")
	}
}

func TestProgramOfAnotherArchitecture(t *testing.T) {
	t.Parallel()
	img, err := Program("x:1", built(t, "package main\n\nfunc main() {}\n", "CGO_ENABLED=0", "GOARCH=arm64"))
	if err != nil || img.Arch != "arm64" {
		t.Errorf("got %q, %v", img.Arch, err)
	}
}

func TestDynamicProgramIsRefused(t *testing.T) {
	t.Parallel()
	file := built(t, "package main\n\nimport \"C\"\n\nfunc main() {}\n", "CGO_ENABLED=1")
	if _, err := Program("x:1", file); !errors.Is(err, ErrNotStatic) {
		t.Errorf("dynamic program: %v", err)
	}
	text := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Program("x:1", text); err == nil {
		t.Error("a script was accepted")
	}
}

func TestAddProgram(t *testing.T) {
	t.Parallel()
	file := built(t, "package main\n\nfunc main() {}\n", "CGO_ENABLED=0")
	img, err := Program("x:1", file)
	if err != nil {
		t.Fatal(err)
	}
	if err := img.Add(file); err == nil {
		t.Error("one path was accepted twice")
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.Rename(built(t, "package main\n\nfunc main() { println() }\n", "CGO_ENABLED=0"), other); err != nil {
		t.Fatal(err)
	}
	if err := img.Add(other); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "two.tar")
	if err := img.Write(out); err != nil {
		t.Fatal(err)
	}
	layer := untar(t, untar(t, read(t, out))["layer.tar"])
	if !bytes.Equal(layer["prog"], read(t, file)) || !bytes.Equal(layer["other"], read(t, other)) {
		t.Error("the image does not have both programs")
	}
	far := built(t, "package main\n\nfunc main() {}\n", "CGO_ENABLED=0", "GOARCH=arm64")
	img.Arch, img.Path = "amd64", "first"
	if err := img.Add(far); err == nil {
		t.Error("a program for another architecture was accepted")
	}
}
