package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const cgroupRoot = "/sys/fs/cgroup"

// cgroupName is the top cgroup of a lab, the same in every hierarchy.
func cgroupName(lab string) string { return "plumbline-lab-" + lab }

// unified reports whether the machine has only cgroup v2: one hierarchy for all controllers.
func unified() bool {
	_, err := os.Stat(filepath.Join(cgroupRoot, "cgroup.controllers"))
	return err == nil
}

// hierarchies lists the roots below which every lab has its cgroup: of each mounted
// controller of cgroup v1, or the only one of v2.
func hierarchies() ([]string, error) {
	if unified() {
		return []string{cgroupRoot}, nil
	}
	dirs, err := filepath.Glob(filepath.Join(cgroupRoot, "*", "cgroup.procs"))
	if err != nil || len(dirs) == 0 {
		return nil, fmt.Errorf("no cgroup controllers under %s", cgroupRoot)
	}
	var out []string
	for _, d := range dirs {
		if d = filepath.Dir(d); filepath.Base(d) != "unified" {
			out = append(out, d)
		}
	}
	return out, nil
}

// createCgroups creates the cgroup below which a node's kubelet puts its pods.
func createCgroups(lab, node string) error {
	hs, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range hs {
		dir := h
		for _, part := range []string{cgroupName(lab), node} {
			parent := dir
			dir = filepath.Join(dir, part)
			if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("create cgroup: %w", err)
			}
			if err := equip(h, parent, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// equip gives a new cgroup what its parent has: in cgroup v1 a new cpuset is empty and accepts
// no process until it is filled; in v2 the parent must pass its controllers on.
func equip(hierarchy, parent, dir string) error {
	switch {
	case unified():
		b, err := os.ReadFile(filepath.Join(parent, "cgroup.controllers"))
		if err != nil {
			return fmt.Errorf("read parent cgroup: %w", err)
		}
		for _, c := range strings.Fields(string(b)) {
			if err := os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+"+c), 0o644); err != nil {
				return fmt.Errorf("pass controller %s on to cgroup %s: %w", c, dir, err)
			}
		}
	case filepath.Base(hierarchy) == "cpuset":
		for _, f := range []string{"cpuset.cpus", "cpuset.mems"} {
			b, err := os.ReadFile(filepath.Join(parent, f))
			if err != nil {
				return fmt.Errorf("read parent cpuset: %w", err)
			}
			if err := os.WriteFile(filepath.Join(dir, f), b, 0o644); err != nil {
				return fmt.Errorf("fill cpuset: %w", err)
			}
		}
	}
	return nil
}

// topCgroups lists the cgroups of labs of that name, which may be a pattern.
func topCgroups(lab string) ([]string, error) {
	pattern := filepath.Join(cgroupRoot, "*", cgroupName(lab))
	if unified() {
		pattern = filepath.Join(cgroupRoot, cgroupName(lab))
	}
	return filepath.Glob(pattern)
}

// removeCgroups removes the lab's cgroups. Their processes have exited, but the kernel
// may need a moment to release them.
func removeCgroups(ctx context.Context, lab string) error {
	tops, err := topCgroups(lab)
	if err != nil {
		return fmt.Errorf("list cgroups: %w", err)
	}
	var last error
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end) && ctx.Err() == nil; {
		last = nil
		for _, top := range tops {
			last = errors.Join(last, removeTree(top))
		}
		if last == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("remove cgroups of lab %s: %w", lab, last)
}

func removeTree(top string) error {
	var dirs []string
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, p)
		}
		return nil //nolint:nilerr // removed meanwhile
	})
	if err != nil {
		return err
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		if err := os.Remove(dirs[i]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// sweepCgroups removes cgroups of labs that were killed together with the processes that
// would have cleaned up: cgroups outlast their processes. A lab in another PID namespace
// of this machine does not appear as running, so only cgroups that are empty and have
// not changed for a while are removed.
func sweepCgroups(running map[string]int, idle time.Duration) {
	tops, _ := topCgroups("*")
	for _, top := range tops {
		if _, ok := running[strings.TrimPrefix(filepath.Base(top), cgroupName(""))]; ok {
			continue
		}
		if st, err := os.Stat(top); err != nil || time.Since(st.ModTime()) < idle {
			continue
		}
		if !populated(top) {
			_ = removeTree(top)
		}
	}
}

// populated returns whether a cgroup or one below it has a process, or cannot be read.
func populated(top string) bool {
	found := errors.New("found")
	return filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "cgroup.procs" {
			return err
		}
		if b, err := os.ReadFile(p); err != nil || len(b) > 0 {
			return found
		}
		return nil
	}) != nil
}

// cgroupsLeft lists cgroups of any lab on this machine.
func cgroupsLeft() []string {
	tops, _ := topCgroups("*")
	var out []string
	for _, t := range tops {
		out = append(out, strings.TrimPrefix(t, cgroupRoot+"/"))
	}
	return out
}
