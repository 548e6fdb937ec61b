package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWrittenImageIsConsistent(t *testing.T) {
	t.Parallel()
	img := Image{Ref: "example.com/x:1", Path: "x", Binary: []byte("#!binary"), Args: []string{"serve"}}
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for _, f := range []string{a, b} {
		if err := img.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	files := untar(t, read(t, a))
	if !bytes.Equal(read(t, a), read(t, b)) {
		t.Error("two writes of one image gave different bytes")
	}
	var manifest []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil || len(manifest) != 1 {
		t.Fatalf("manifest: %v, %v", manifest, err)
	}
	m := manifest[0]
	if m.RepoTags[0] != img.Ref {
		t.Errorf("tagged %q", m.RepoTags)
	}
	var config struct {
		Config struct{ Entrypoint, Cmd []string }
		Rootfs struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	if err := json.Unmarshal(files[m.Config], &config); err != nil {
		t.Fatal(err)
	}
	layer := files[m.Layers[0]]
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(layer)); config.Rootfs.DiffIDs[0] != want {
		t.Errorf("layer is %s, config has %s", want, config.Rootfs.DiffIDs[0])
	}
	if got := config.Config.Entrypoint[0]; got != "/x" || config.Config.Cmd[0] != "serve" {
		t.Errorf("starts %q %q", got, config.Config.Cmd)
	}
	if got := untar(t, layer)["x"]; string(got) != "#!binary" {
		t.Errorf("binary is %q", got)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func untar(t *testing.T, b []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name], err = io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
	}
}
