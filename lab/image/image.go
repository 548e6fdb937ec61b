// Package image writes container images of static binaries, from scratch, as
// archives that containerd imports. It pulls and pushes nothing.
package image

import (
	"archive/tar"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
)

// An Image holds a binary and the arguments that it starts with.
type Image struct {
	Ref    string
	Path   string // of the binary, from the root
	Binary []byte
	Beside map[string][]byte // further binaries, by path
	Args   []string
	Arch   string            // GOARCH; empty means that of this machine
	Labels map[string]string // labels of the image
}

// Write writes the image to file in the format of docker save. The same image gives the
// same bytes.
func (i Image) Write(file string) error {
	files := []entry{
		{name: "dev/", mode: 0o755},
		{name: "etc/", mode: 0o755},
		{name: "proc/", mode: 0o755},
		{name: "sys/", mode: 0o755},
		{name: "tmp/", mode: 0o1777},
		{name: i.Path, mode: 0o755, data: i.Binary},
	}
	for _, path := range slices.Sorted(maps.Keys(i.Beside)) {
		files = append(files, entry{name: path, mode: 0o755, data: i.Beside[path]})
	}
	layer, err := archive(files...)
	if err != nil {
		return err
	}
	runs := map[string]any{"Entrypoint": []string{"/" + i.Path}, "Cmd": i.Args, "WorkingDir": "/"}
	if len(i.Labels) > 0 {
		runs["Labels"] = i.Labels
	}
	config, err := json.Marshal(map[string]any{
		"architecture": cmp.Or(i.Arch, runtime.GOARCH), "os": "linux",
		"config": runs,
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	if err != nil {
		return err
	}
	configName := fmt.Sprintf("%x.json", sha256.Sum256(config))
	manifest, err := json.Marshal([]map[string]any{{"Config": configName, "RepoTags": []string{i.Ref}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return err
	}
	all, err := archive(
		entry{name: configName, mode: 0o644, data: config},
		entry{name: "layer.tar", mode: 0o644, data: layer},
		entry{name: "manifest.json", mode: 0o644, data: manifest},
	)
	if err != nil {
		return err
	}
	return os.WriteFile(file, all, 0o644)
}

type entry struct {
	name string
	mode int64
	data []byte
}

func archive(entries ...entry) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.data)), Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if e.data == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("write %s: %w", e.name, err)
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, fmt.Errorf("write %s: %w", e.name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
