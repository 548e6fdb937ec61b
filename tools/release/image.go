package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// images is all that we publish. Each has programs and their licences and nothing else: no shell, no certificates (the
// API server's authority is mounted by Kubernetes), no user but what the chart sets.
var images = []struct {
	name     string
	programs []string // the first is started
	args     []string
}{
	{name: "plumbline-agent", programs: []string{"plumbline-agent", "plumbline-cni"}, args: []string{"serve"}},
	{name: "plumbline-controller", programs: []string{"plumbline-controller"}},
}

// A built image for all platforms.
type built struct {
	name   string
	index  v1.ImageIndex
	digest v1.Hash
}

// images writes each as an OCI layout in an archive of its own.
func (d *dist) images(o options, p *programs) ([]built, error) {
	var out []built
	for _, i := range images {
		b, err := d.image(o, p, i.name, i.programs, i.args)
		if err == nil {
			err = d.putImage(o, b)
		}
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", i.name, err)
		}
		out = append(out, b)
	}
	return out, nil
}

func (d *dist) putImage(o options, b built) error {
	dir, err := os.MkdirTemp("", "plumbline-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	at, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	ref := o.registry + "/" + b.name + ":" + o.version
	if err := at.AppendIndex(b.index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": o.version, "io.containerd.image.name": ref})); err != nil {
		return err
	}
	packed, err := packDir(dir, d.src.date)
	if err != nil {
		return err
	}
	d.digests[o.registry+"/"+b.name] = b.digest.Hex
	return d.put("image-"+b.name+".tar", packed)
}

func (d *dist) image(o options, p *programs, name string, programs, args []string) (built, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, at := range p.nodes {
		img, err := d.onePlatform(o, p, at, name, programs, args)
		if err != nil {
			return built{}, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: at.os, Architecture: at.arch}}})
	}
	digest, err := index.Digest()
	return built{name: name, index: index, digest: digest}, err
}

func (d *dist) onePlatform(o options, p *programs, at platform, name string, programs, args []string) (v1.Image, error) {
	// Runtimes mount on the directories; a read-only container cannot create them.
	files := []file{{name: "dev/", mode: 0o755}, {name: "etc/", mode: 0o755}, {name: "proc/", mode: 0o755}, {name: "sys/", mode: 0o755}, {name: "tmp/", mode: 0o1777}}
	for _, program := range programs {
		b, err := os.ReadFile(p.file(program, at))
		if err != nil {
			return nil, err
		}
		files = append(files, file{program, 0o755, b})
	}
	texts, err := read(o, "LICENSE", "NOTICE", "THIRD_PARTY_LICENSES.txt")
	if err != nil {
		return nil, err
	}
	files = append(files, file{name: "licenses/", mode: 0o755})
	for _, t := range texts {
		files = append(files, file{"licenses/" + t.name, t.mode, t.body})
	}
	plain, err := tarred(files, d.src.date)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(plain)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.Time{Time: d.src.date}
	img, err = mutate.Append(img, mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: "tools/release"}})
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, d.config(o, at, name, programs[0], args, img))
}

func (d *dist) config(o options, at platform, name, program string, args []string, img v1.Image) *v1.ConfigFile {
	old, err := img.ConfigFile()
	if err != nil {
		panic(err) // it is in memory
	}
	c := old.DeepCopy()
	c.OS, c.Architecture, c.Created = at.os, at.arch, v1.Time{Time: d.src.date}
	c.Config = v1.Config{
		Entrypoint: []string{"/" + program}, Cmd: args, WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.title": name, "org.opencontainers.image.version": o.version, "org.opencontainers.image.revision": d.src.commit,
			"org.opencontainers.image.created": d.src.date.Format(time.RFC3339), "org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": home,
		},
	}
	return c
}

// packDir packs a directory in the order of its names.
func packDir(dir string, date time.Time) ([]byte, error) {
	var files []file
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path) //nolint:gosec // our own directory
		files = append(files, file{filepath.ToSlash(name), 0o644, b})
		return err
	})
	if err != nil {
		return nil, err
	}
	return tarred(files, date)
}
