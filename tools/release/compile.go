package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// A platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "_" + p.arch }

// exe is the name of a program's file.
func (p platform) exe(name string) string {
	if p.os == "windows" {
		return name + ".exe"
	}
	return name
}

// Who gets what: users get the command line for their own machine, nodes get images.
var (
	forUsers = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}
	forNodes = []platform{{"linux", "amd64"}, {"linux", "arm64"}}
)

const userProgram = "plumbline"

// Programs are the compiled ones.
type programs struct {
	dir          string
	flat         bool // those of make build: for one platform
	users, nodes []platform
}

// remove removes what compile wrote.
func (p *programs) remove() {
	if !p.flat {
		_ = os.RemoveAll(p.dir)
	}
}

func (p *programs) file(name string, at platform) string {
	if p.flat {
		return filepath.Join(p.dir, name)
	}
	return filepath.Join(p.dir, at.String(), at.exe(name))
}

// compile builds all programs. Without paths, build IDs and cgo the result depends on the commit,
// the version and the Go release only.
func compile(ctx context.Context, o options) (*programs, error) {
	if o.quick {
		own := []platform{{runtime.GOOS, runtime.GOARCH}}
		return &programs{dir: o.path("bin"), flat: true, users: own, nodes: own}, nil
	}
	dir, err := os.MkdirTemp("", "plumbline-release-")
	if err != nil {
		return nil, err
	}
	p := &programs{dir: dir, users: forUsers, nodes: forNodes}
	for _, at := range p.users {
		if err := build(ctx, o, p, at, userProgram); err != nil {
			return nil, err
		}
	}
	for _, at := range p.nodes {
		for _, i := range images {
			if err := build(ctx, o, p, at, i.programs...); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

func build(ctx context.Context, o options, p *programs, at platform, names ...string) error {
	for _, name := range names {
		args := []string{
			"build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -buildid= -X plumbline.dev/plumbline/internal/buildinfo.version=" + o.version,
			"-o", p.file(name, at), "./cmd/" + name,
		}
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.Stderr = o.root, os.Stderr
		// No setting of this machine's may change the result.
		cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return len(v) > 2 && v[:2] == "GO" && !keeps(v) }),
			"CGO_ENABLED=0", "GOOS="+at.os, "GOARCH="+at.arch, "GOFLAGS=", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0")
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("build %s for %s: %w", name, at, err)
		}
	}
	return nil
}

// keeps reports whether a variable says where modules come from and are kept, not what is built.
func keeps(v string) bool {
	for _, name := range []string{"GOPATH=", "GOCACHE=", "GOMODCACHE=", "GOPROXY=", "GOSUMDB=", "GONOSUMDB=", "GONOSUMCHECK=", "GOROOT=", "GOTOOLCHAIN=", "GOPRIVATE=", "GOINSECURE="} {
		if len(v) >= len(name) && v[:len(name)] == name {
			return true
		}
	}
	return false
}
