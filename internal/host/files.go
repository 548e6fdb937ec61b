package host

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

const maxOpen = 1024 // files of one process

// openMounts are the mounts on which a process has files open or its directory, without
// touching one: links of procfs are names only. Those that can hang come first.
func openMounts(dir string) []string {
	table, err := readMountinfo(dir, nil)
	if err != nil || len(table) == 0 {
		return nil
	}
	var paths []string
	if cwd, err := os.Readlink(dir + "/cwd"); err == nil {
		paths = append(paths, cwd)
	}
	fds, _, _ := numbers(dir+"/fd", maxOpen)
	for _, fd := range fds {
		if to, err := os.Readlink(dir + "/fd/" + strconv.Itoa(fd)); err == nil {
			paths = append(paths, to)
		}
	}
	return mountsOf(table, paths)
}

func mountsOf(table []mount, paths []string) []string {
	var hanging, solid []string
	for _, p := range paths {
		m := below(table, p)
		switch {
		case m == nil || slices.Contains(hanging, m.target) || slices.Contains(solid, m.target):
		case canHang(m.kind):
			hanging = append(hanging, m.target)
		case onDisk(m.kind):
			solid = append(solid, m.target)
		}
	}
	slices.Sort(hanging)
	slices.Sort(solid)
	out := slices.Concat(hanging, solid)
	return out[:min(len(out), maxTold)]
}

// below finds the mount that a path is on: the longest, and of equal ones the last, which
// covers the others.
func below(table []mount, path string) *mount {
	if !strings.HasPrefix(path, "/") {
		return nil // a pipe or socket
	}
	var best *mount
	for i := range table {
		m := &table[i]
		if within(path, m.target) && (best == nil || len(m.target) >= len(best.target)) {
			best = m
		}
	}
	return best
}

func within(path, dir string) bool {
	return dir == "/" || path == dir || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}
