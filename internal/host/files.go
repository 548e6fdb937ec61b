package host

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/hostfile"
)

const maxOpen = 1024 // files of one process

// openMounts returns the mounts on which a process has open files or its working directory,
// without touching one: it only reads the links of procfs. Those that can hang come first.
// The error reports a missing right.
func openMounts(dir string) ([]string, error) {
	table, denial := readMountinfo(dir, nil)
	if denial != nil || len(table) == 0 {
		return nil, denied(denial)
	}
	var paths []string
	follow := func(link string) {
		to, err := os.Readlink(link)
		if err != nil {
			denial = cmp.Or(denial, denied(hostfile.OfTask(dir, err)))
			return
		}
		paths = append(paths, to)
	}
	follow(dir + "/cwd")
	fds, _, err := hostfile.Numbers(dir+"/fd", maxOpen)
	denial = cmp.Or(denial, denied(err))
	for _, fd := range fds {
		follow(dir + "/fd/" + strconv.Itoa(fd))
	}
	return mountsOf(table, paths), denial
}

// denied returns an error about a missing right; nil for others, such as of a process that
// has ended.
func denied(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
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

// below finds the mount of a path: the longest target, and of equal ones the last, which
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
