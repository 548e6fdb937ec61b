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

// ErrNotStatic means that the program needs a loader or libraries, which an image
// from scratch does not have: its containers would say "no such file".
var ErrNotStatic = errors.New("not a static program (build it with CGO_ENABLED=0)")

// arches has Go's names of the machines that the product is built for.
var arches = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}

// Program is the image of one static Go program, which starts with args. It is
// labelled with the version that was built into the program.
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

// Add puts another program of the same machine beside the first.
func (i *Image) Add(file string) error {
	b, arch, err := static(file)
	if err != nil {
		return err
	}
	name := filepath.Base(file)
	switch {
	case arch != i.Arch:
		return fmt.Errorf("%s is for %s, and the image for %s", file, arch, i.Arch)
	case name == i.Path || i.Beside[name] != nil:
		return fmt.Errorf("the image has a %s already", name)
	case i.Beside == nil:
		i.Beside = map[string][]byte{}
	}
	i.Beside[name] = b
	return nil
}

// static reads a program that needs nothing but the kernel, and tells for which machine it is.
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
		return nil, "", fmt.Errorf("%s is for %s, for which no images are made", file, e.Machine)
	}
	return b, arch, nil
}
