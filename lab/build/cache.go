package build

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotBuilt means that the lab's components are not in the cache: run make lab-build.
var ErrNotBuilt = errors.New("the lab is not built for this tree; run: make lab-build")

// New finds the source tree around the working directory or the executable, and the
// user's cache.
func New() (*Builder, error) {
	tree, err := findTree()
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir() // XDG_CACHE_HOME, or .cache in HOME
	if err != nil {
		return nil, fmt.Errorf("find the cache: %w", err)
	}
	return &Builder{Tree: tree, Cache: filepath.Join(cache, "plumbline", "lab"), Log: discard{}}, nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func findTree() (string, error) {
	wd, _ := os.Getwd()
	exe, _ := os.Executable()
	for _, start := range []string{wd, filepath.Dir(exe)} {
		for d := start; len(d) > 1; d = filepath.Dir(d) {
			if _, err := os.Stat(filepath.Join(d, "lab/build/kubernetes/go.mod")); err == nil {
				return d, nil
			}
		}
	}
	return "", fmt.Errorf("no Plumbline source tree around %s or %s", wd, exe)
}

// Paths returns the directory of every component of a lab of the default versions, by name, or
// ErrNotBuilt.
func (b *Builder) Paths(ctx context.Context) (map[string]string, error) {
	return b.PathsOf(ctx, CalicoVersions[0], KubernetesVersions[0])
}

// PathsOf is Paths for a lab of these versions.
func (b *Builder) PathsOf(ctx context.Context, calicoVersion, kubernetesVersion string) (map[string]string, error) {
	paths := map[string]string{}
	for _, c := range Components {
		switch c.Name {
		case "calico":
			c = calico(calicoVersion)
		case "kubernetes":
			c = kubernetes(kubernetesVersion)
		}
		p, err := b.built(ctx, c)
		if err != nil {
			return nil, err
		}
		paths[c.Name] = p
	}
	return paths, nil
}

// Path returns the directory of an optional component, or ErrNotBuilt.
func (b *Builder) Path(ctx context.Context, name string) (string, error) {
	c, err := optional(name)
	if err != nil {
		return "", err
	}
	p, err := b.built(ctx, c)
	if err != nil {
		return "", fmt.Errorf("%w; run: lab build %s", err, name)
	}
	return p, nil
}

func (b *Builder) built(ctx context.Context, c Component) (string, error) {
	p, err := b.path(ctx, c)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(p); err != nil {
		name := filepath.Base(c.Dir)
		if strings.HasPrefix(c.Dir, versionsDir) {
			return "", fmt.Errorf("%s is not built for this tree; run: lab build %[1]s", name)
		}
		return "", fmt.Errorf("%w (%s is missing)", ErrNotBuilt, name)
	}
	return p, nil
}

// path derives the component's directory in the cache from all its inputs.
func (b *Builder) path(ctx context.Context, c Component) (string, error) {
	if b.goVersion == "" {
		out, err := goCommand(ctx, b.Tree, "env", "GOVERSION", "GOOS", "GOARCH").Output()
		if err != nil {
			return "", fmt.Errorf("read the version of go: %w", err)
		}
		b.goVersion = strings.Join(strings.Fields(string(out)), " ")
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%v\n", b.goVersion, c.Package, c.LDFlags, c.Rename)
	if c.Paths {
		fmt.Fprintln(h, "paths")
	}
	for _, d := range append([]string{c.Dir}, c.Inputs...) {
		if err := b.hash(h, d); err != nil {
			return "", fmt.Errorf("read the inputs of %s: %w", c.Name, err)
		}
	}
	return filepath.Join(b.Cache, fmt.Sprintf("%s-%x", filepath.Base(c.Dir), h.Sum(nil)[:8])), nil
}

// hash adds the files below a path of the tree, without tests.
func (b *Builder) hash(h io.Writer, path string) error {
	return filepath.WalkDir(filepath.Join(b.Tree, path), func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(p, "_test.go") {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(b.Tree, p)
		_, err = fmt.Fprintf(h, "%s %x\n", rel, sha256.Sum256(text))
		return err
	})
}
