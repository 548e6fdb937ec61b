package image

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNotStatic means that the program needs a loader or libraries, which an image from
// scratch does not have: its containers would fail with "no such file".
var ErrNotStatic = errors.New("not a static program (build it with CGO_ENABLED=0)")

// arches maps ELF machines that the product is built for to GOARCH.
var arches = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}

// Program returns the image of one static Go program, which starts with args. Its label
// has the version that was built into the program.
func Program(ref, file string, args ...string) (Image, error) {
	b, arch, err := static(file)
	if err != nil {
		return Image{}, err
	}
	info, err := buildinfo.Read(bytes.NewReader(b))
	if err != nil {
		return Image{}, fmt.Errorf("read version of %s: %w", file, err)
	}
	name := filepath.Base(file)
	return Image{
		Ref: ref, Path: name, Binary: b, Args: args, Arch: arch,
		Labels: map[string]string{"org.opencontainers.image.title": name, "org.opencontainers.image.version": info.Main.Version},
	}, nil
}

// Add adds another program for the same architecture to the image.
func (i *Image) Add(file string) error {
	b, arch, err := static(file)
	if err != nil {
		return err
	}
	name := filepath.Base(file)
	switch {
	case arch != i.Arch:
		return fmt.Errorf("%s is built for %s, the image is for %s", file, arch, i.Arch)
	case name == i.Path || i.Beside[name] != nil:
		return fmt.Errorf("the image already has %s", name)
	case i.Beside == nil:
		i.Beside = map[string][]byte{}
	}
	i.Beside[name] = b
	return nil
}

// static reads a program that needs only the kernel, and returns its architecture.
func static(file string) (b []byte, arch string, err error) {
	if b, err = os.ReadFile(file); err != nil {
		return nil, "", fmt.Errorf("read program: %w", err)
	}
	e, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		return nil, "", fmt.Errorf("read program %s: %w", file, err)
	}
	for _, p := range e.Progs {
		if p.Type == elf.PT_INTERP {
			return nil, "", fmt.Errorf("%s: %w", file, ErrNotStatic)
		}
	}
	arch, ok := arches[e.Machine]
	if !ok {
		return nil, "", fmt.Errorf("%s is built for %s, which images do not support", file, e.Machine)
	}
	return b, arch, nil
}
