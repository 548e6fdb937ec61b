package build

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// nodeParts are the programs that a machine gets, by component; none means all.
var nodeParts = map[string][]string{
	"kubernetes": {"kubelet", "kube-proxy"},
	"calico":     {"calico", "calico-node", "calico-felix"},
	"containerd": nil, "cni": nil, "workload": nil, "latedel": nil, "hangfs": nil, "guest": nil,
}

// PartsDisk makes a disk of the programs of a node unless it is in the cache, and
// returns its directory.
func (b *Builder) PartsDisk(ctx context.Context, paths map[string]string) (string, error) {
	names := slices.Sorted(maps.Keys(nodeParts))
	h := sha256.New()
	for _, name := range names {
		_, _ = fmt.Fprintln(h, filepath.Base(paths[name]), nodeParts[name])
	}
	out := filepath.Join(b.Cache, fmt.Sprintf("parts-%x", h.Sum(nil)[:8]))
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	tmp, err := os.MkdirTemp(b.Cache, ".parts-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	root := filepath.Join(tmp, "root")
	for _, name := range names {
		if err := linkAll(paths[name], filepath.Join(root, name), nodeParts[name]); err != nil {
			return "", err
		}
	}
	if err := b.command(ctx, "mke2fs", "-q", "-t", "ext4", "-d", root, filepath.Join(tmp, "parts.img"), "2G"); err != nil {
		return "", err
	}
	if err := os.RemoveAll(root); err != nil {
		return "", err
	}
	return out, os.Rename(tmp, out)
}

// linkAll puts hard links of the files into a directory.
func linkAll(from, to string, names []string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeType != 0 || (names != nil && !slices.Contains(names, e.Name())) {
			continue
		}
		if err := os.Link(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
