package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
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
func compile(ctx context.Context, o options, src source) (_ *programs, err error) {
	if o.quick {
		own := []platform{{runtime.GOOS, runtime.GOARCH}}
		return &programs{dir: o.path("bin"), flat: true, users: own, nodes: own}, nil
	}
	if runtime.Version() != goRelease {
		return nil, fmt.Errorf("this is %s, and releases are made with %s: set GOTOOLCHAIN=%s", runtime.Version(), goRelease, goRelease)
	}
	env, err := environment(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "plumbline-release-")
	if err != nil {
		return nil, err
	}
	p := &programs{dir: dir, users: forUsers, nodes: forNodes}
	defer func() {
		if err != nil {
			p.remove()
		}
	}()
	for _, at := range p.users {
		if err := build(ctx, o, src, p, env, at, userProgram); err != nil {
			return nil, err
		}
	}
	for _, at := range p.nodes {
		for _, i := range images {
			if err := build(ctx, o, src, p, env, at, i.programs...); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

func build(ctx context.Context, o options, src source, p *programs, env []string, at platform, names ...string) error {
	for _, name := range names {
		const info = " -X plumbline.dev/plumbline/internal/buildinfo."
		stamp := info + "version=" + o.version + info + "commit=" + src.commit + info + "date=" + src.date.Format(time.RFC3339)
		// Not from git: what Go takes from there depends on the tags of the clone.
		args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=" + stamp, "-o", p.file(name, at), "./cmd/" + name}
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.Stderr = o.root, os.Stderr
		cmd.Env = slices.Concat(env, []string{"CGO_ENABLED=0", "GOOS=" + at.os, "GOARCH=" + at.arch, "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0"})
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("build %s for %s: %w", name, at, err)
		}
	}
	return nil
}

// goRelease is the Go that releases are made with: another one makes other bytes.
const goRelease = "go1.26.8"

// environment is this process's without what could change the result. Where modules come from and are
// kept is taken over, also from the user's own settings of Go (go env -w), which are then ignored.
func environment(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "-json", "GOPATH", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "GOINSECURE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	var kept map[string]string
	if err := json.Unmarshal(out, &kept); err != nil {
		return nil, err
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GO") || strings.HasPrefix(v, "CGO_") })
	env = append(env, "GOENV=off", "GOTOOLCHAIN="+goRelease)
	for name, value := range kept {
		env = append(env, name+"="+value)
	}
	return env, nil
}
