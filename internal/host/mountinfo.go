package host

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/moby/sys/mountinfo"

	"plumbline.dev/plumbline/internal/hostfile"
)

// A mount is one line of a mount table.
type mount struct {
	target, kind, source string
	options              string // of an overlay: which directories it has
	major, minor         int
}

func (m *mount) device() string { return fmt.Sprintf("%d:%d", m.major, m.minor) }

// readMountinfo reads the mount table of a task.
func readMountinfo(dir string, keep func(kind, target []byte) bool) ([]mount, error) {
	b, err := hostfile.Read(dir+"/mountinfo", maxTable)
	if err != nil {
		return nil, hostfile.OfTask(dir, err)
	}
	return parseMountinfo(b, keep)
}

// parseMountinfo reads a mount table line by line, so that an invalid line affects no
// other, and only the lines that keep selects: a node has ten thousands. An error reports
// invalid lines; the others are returned all the same.
func parseMountinfo(b []byte, keep func(kind, target []byte) bool) ([]mount, error) {
	var out []mount
	var bad error
	for line := range bytes.Lines(b) {
		if keep != nil {
			if kind, target, ok := glance(line); ok && !keep(kind, target) {
				continue
			}
		}
		infos, err := mountinfo.GetMountsFromReader(bytes.NewReader(line), nil)
		if err == nil && len(infos) != 1 {
			err = errors.New("not a single line")
		}
		if err != nil {
			bad = fmt.Errorf("invalid line in a mount table: %w", err)
			continue
		}
		i := infos[0]
		m := mount{target: i.Mountpoint, kind: i.FSType, source: i.Source, major: i.Major, minor: i.Minor}
		if m.kind == "overlay" {
			m.options = i.VFSOptions
		}
		out = append(out, m)
	}
	return out, bad
}

// glance finds type and target of a line, still escaped.
func glance(line []byte) (kind, target []byte, ok bool) {
	head, tail, ok := bytes.Cut(line, []byte(" - "))
	if !ok {
		return nil, nil, false
	}
	kind, _, _ = bytes.Cut(tail, []byte(" "))
	for range 4 {
		if _, head, ok = bytes.Cut(head, []byte(" ")); !ok {
			return nil, nil, false
		}
	}
	target, _, _ = bytes.Cut(head, []byte(" "))
	return kind, target, true
}
