package host

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// everything keeps all lines of a mount table.
func everything(_, _ []byte) bool { return true }

// snapshotter is where lazily pulling snapshotters (stargz, nydus, SOCI) mount the layers of
// images, each a FUSE file system of its own.
var snapshotter = regexp.MustCompile(`/(?:containerd-stargz-grpc|containerd-nydus(?:-grpc)?|soci-snapshotter-grpc|io\.containerd\.snapshotter\.[^/]+|stargz-store|nydus-store|soci-store)/|/snapshotter/snapshots/`)

// maxLayers bounds how many are named.
const maxLayers = 16

// layersOn returns what lies on the file systems of some devices although no mount table has a
// line for that: overlays with a directory on them, which are the images of running containers,
// and loop and device-mapper devices with a file on them, with what is mounted from these. spaces
// must have all mounts. The comparison is lexical, because a file system that hangs must not be
// touched, and prefers one too many: an overlay's options name paths of the mount namespace that
// created it, which may be another one than the one that shows it.
func (h *Host) layersOn(device string, spaces []space) []string {
	var out []string
	add := func(format string, args ...any) {
		if what := fmt.Sprintf(format, args...); len(out) < maxLayers && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	devices := []string{device}
	for i := 0; i < len(devices); i++ { // it grows: a device may lie on a file system that lies on another
		targets := targetsOf(spaces, devices[i])
		for _, t := range targets {
			if snapshotter.MatchString(t.path + "/") {
				add("a snapshotter's layer at %s", t.path)
			}
		}
		for _, s := range spaces {
			for _, m := range s.mounts {
				if m.kind == "overlay" && !slices.Contains(devices, m.device()) && m.liesOn(targets, s.dir) {
					add("an overlay at %s", m.target)
					devices = append(devices, m.device())
				}
			}
		}
		for _, d := range h.backedBy(targets) {
			if slices.Contains(devices, d) {
				continue
			}
			devices = append(devices, d)
			add("block device %s", d)
			for _, t := range targetsOf(spaces, d) {
				add("block device %s at %s", d, t.path)
			}
		}
	}
	return out
}

// A mountTarget is a path at which a namespace has a device.
type mountTarget struct {
	path string
	dir  string // of the namespace
}

func targetsOf(spaces []space, device string) []mountTarget {
	var out []mountTarget
	for _, s := range spaces {
		for _, m := range s.mounts {
			if m.device() == device {
				out = append(out, mountTarget{path.Clean(m.target), s.dir})
			}
		}
	}
	return out
}

// liesOn reports whether a directory of an overlay may be at or below one of the targets.
func (m *mount) liesOn(targets []mountTarget, dir string) bool {
	absolute, relative := m.overlayDirs()
	return slices.ContainsFunc(targets, func(t mountTarget) bool {
		if t.path == "/" && t.dir != dir {
			return false // the root of a container holds nothing of others
		}
		return slices.ContainsFunc(absolute, func(p string) bool { return within(p, t.path) }) ||
			slices.ContainsFunc(relative, func(p string) bool { return endsWithin(p, t.path) })
	})
}

// overlayDirs returns the directories that an overlay's options name.
func (m *mount) overlayDirs() (absolute, relative []string) {
	for option := range splitUnescaped(m.options, ',') {
		key, value, _ := strings.Cut(option, "=")
		if !slices.Contains([]string{"lowerdir", "lowerdir+", "datadir+", "upperdir", "workdir"}, key) {
			continue
		}
		for p := range splitUnescaped(value, ':') {
			switch p = unescaped(p); {
			case p == "":
			case path.IsAbs(p):
				absolute = append(absolute, path.Clean(p))
			default:
				relative = append(relative, path.Clean(p))
			}
		}
	}
	return absolute, relative
}

// endsWithin reports whether a relative path, of an unknown directory, may be at or below a
// target: containerd shortens long lists of layers that way.
func endsWithin(p, target string) bool {
	for ; p != "." && p != "/" && p != ".."; p = path.Dir(p) {
		if strings.HasSuffix(target, "/"+p) {
			return true
		}
	}
	return false
}

// splitUnescaped splits at a separator that no backslash precedes.
func splitUnescaped(s string, at byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		from := 0
		for i := 0; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case at:
				if !yield(s[from:i]) {
					return
				}
				from = i + 1
			}
		}
		yield(s[min(from, len(s)):])
	}
}

func unescaped(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// backedBy returns the numbers of block devices whose data lies on the targets: loop devices
// with a file there, and device-mapper devices made of those.
func (h *Host) backedBy(targets []mountTarget) []string {
	var out []string
	names := map[string]bool{}
	files, _ := filepath.Glob(h.o.Sys + "/block/loop*/loop/backing_file")
	for _, f := range files {
		b, err := os.ReadFile(f)
		backing := strings.TrimSuffix(strings.TrimSpace(string(b)), " (deleted)")
		if err != nil || !slices.ContainsFunc(targets, func(t mountTarget) bool { return t.path != "/" && within(path.Clean(backing), t.path) }) {
			continue
		}
		name := filepath.Base(filepath.Dir(filepath.Dir(f)))
		names[name] = true
		out = append(out, h.blockNumber(name))
	}
	for again := len(names) > 0; again; { // one may be made of others
		again = false
		slaves, _ := filepath.Glob(h.o.Sys + "/block/dm-*/slaves/*")
		for _, s := range slaves {
			name := filepath.Base(filepath.Dir(filepath.Dir(s)))
			if names[filepath.Base(s)] && !names[name] {
				names[name], again = true, true
				out = append(out, h.blockNumber(name))
			}
		}
	}
	return slices.DeleteFunc(out, func(d string) bool { return d == "" })
}

func (h *Host) blockNumber(name string) string {
	b, err := os.ReadFile(h.o.Sys + "/block/" + name + "/dev")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// usersKnown reports whether the pods that use a device are all that can use it: every mount of
// it is a pod's, or the kubelet's own before it is one. A mount of the host itself may be used by
// any process, and by a virtual machine (Kata) whose mounts no table of the node shows.
func usersKnown(device string, spaces []space) bool {
	there := false
	for _, s := range spaces {
		for _, m := range s.mounts {
			switch {
			case m.device() != device:
			case userOf(s, m.target) == "" && !staged(m.target):
				return false
			default:
				there = true
			}
		}
	}
	return there
}

// users reads what else lies on a file system, and whether all its users are known.
func (h *Host) users(ctx context.Context, device string) (layers []string, known bool, err error) {
	spaces, err := h.spacesWith(ctx, everything)
	if err != nil {
		return nil, false, err // also if only partial
	}
	layers = h.layersOn(device, spaces)
	return layers, len(layers) == 0 && usersKnown(device, spaces), nil
}
