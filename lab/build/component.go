// Package build compiles the lab's components from pinned modules and keeps them in a
// cache outside the tree, one directory per component and key of its inputs. It
// downloads nothing but Go modules.
package build

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A Component is built in one step from the files that its key covers.
type Component struct {
	Name    string
	Dir     string            // below the source tree; its files are the inputs
	Package string            // packages to build there: "tool" means the tool lines of go.mod
	LDFlags string            // version stamps
	Paths   bool              // built with paths, as its own project does: only then does a program record its LDFlags
	Rename  map[string]string // outputs to rename
	Finish  func(ctx context.Context, b *Builder, dir, out string) error
	Inputs  []string // further ones, below the source tree: those of Finish
}

// Components lists all components of a lab, the longest build first.
var Components = []Component{
	kubernetes(KubernetesVersions[0]),
	calico(CalicoVersions[0]),
	{Name: "containerd", Dir: "lab/build/containerd", Package: "tool"},
	{Name: "etcd", Dir: "lab/build/etcd", Package: "tool", Rename: map[string]string{"server": "etcd"}},
	{Name: "cni", Dir: "lab/build/cni", Package: "tool"},
	{Name: "hangfs", Dir: "lab/build/hangfs", Package: "."},
	{Name: "workload", Dir: "lab/workload", Package: ".", Finish: images, Inputs: []string{"lab/build/images.go", "lab/image"}},
	{Name: "latedel", Dir: "lab/latedel", Package: "."},
	{Name: "guest", Dir: "lab/guest", Package: "."},
}

// Optional lists what is built only when it is asked for.
var Optional = []Component{
	{Name: "gvisor", Dir: "lab/build/gvisor", Package: "tool", Rename: map[string]string{"shim": "containerd-shim-runsc-v1"}},
	{Name: "nfs", Dir: "lab/build/nfs", Package: "."},
}

// optional finds what is built only when it is asked for: gvisor, calico-3.27, kubernetes-v1.36.3.
func optional(name string) (Component, error) {
	for _, c := range Optional {
		if c.Name == name {
			return c, nil
		}
	}
	part, version, _ := strings.Cut(name, "-")
	of, ok := map[string][]string{"calico": CalicoVersions, "kubernetes": KubernetesVersions}[part]
	if !ok {
		return Component{}, fmt.Errorf("no optional component is called %q", name)
	}
	version, err := Version(of, version)
	if err != nil {
		return Component{}, fmt.Errorf("%s: %w", part, err)
	}
	if part == "calico" {
		return calico(version), nil
	}
	return kubernetes(version), nil
}

// A Builder compiles components of one source tree into one cache.
type Builder struct {
	Tree  string
	Cache string
	Log   io.Writer // output of the compiler

	goVersion string
}

// Done is called after one component; the caller measures how long it took.
type Done func(c Component, cached bool)

// All builds the components that are not in the cache yet.
func (b *Builder) All(ctx context.Context, done Done) error {
	for _, c := range Components {
		cached, err := b.one(ctx, c)
		if err != nil {
			return err
		}
		done(c, cached)
	}
	return nil
}

// One builds an optional component that is not in the cache yet.
func (b *Builder) One(ctx context.Context, name string) (cached bool, err error) {
	c, err := optional(name)
	if err != nil {
		return false, err
	}
	return b.one(ctx, c)
}

func (b *Builder) one(ctx context.Context, c Component) (cached bool, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("build %s: %w", c.Name, err)
		}
	}()
	out, err := b.path(ctx, c)
	if err != nil {
		return false, err
	}
	if _, err := os.Stat(out); err == nil {
		return true, nil
	}
	// Build beside the final directory and rename it at the end: a build that is killed
	// never looks complete.
	if err := os.MkdirAll(b.Cache, 0o755); err != nil {
		return false, err
	}
	tmp, err := os.MkdirTemp(b.Cache, "."+c.Name+"-*")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := os.Chmod(tmp, 0o755); err != nil {
		return false, err
	}
	dir := filepath.Join(b.Tree, c.Dir)
	args := []string{"build", "-trimpath=" + strconv.FormatBool(!c.Paths), "-ldflags=-s -w" + c.LDFlags, "-o", tmp + "/", c.Package}
	if err := b.run(ctx, dir, args...); err != nil {
		return false, err
	}
	for from, to := range c.Rename {
		if err := os.Rename(filepath.Join(tmp, from), filepath.Join(tmp, to)); err != nil {
			return false, err
		}
	}
	if c.Finish != nil {
		if err := c.Finish(ctx, b, dir, tmp); err != nil {
			return false, err
		}
	}
	return false, os.Rename(tmp, out)
}

func (b *Builder) run(ctx context.Context, dir string, args ...string) error {
	cmd := goCommand(ctx, dir, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(b.Log, &said), io.MultiWriter(b.Log, &said)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s in %s: %w\n%s", args[0], dir, err, tail(said.String(), 20))
	}
	return nil
}

func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off")
	return cmd
}

func tail(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
