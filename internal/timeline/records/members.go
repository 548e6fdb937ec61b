package records

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"path"
	"strings"
)

// members are the files of an archive, as their names tell before any is read.
type members struct {
	nodes  map[string]string // by name: the node that a file is from
	tables bool              // it is a bundle of Plumbline, with tables beside its logs

	stream bool
	dirs   map[string]string // of a stream, by log: the directory of the first
	mixed  bool              // of a stream: several directories have the same log
}

var errMixed = errors.New("its files are from several nodes, which a stream does not tell apart: pass the archive as a file")

// see notes the name of a stream's file, and fails at the first that shows several nodes.
func (m *members) see(name string) error {
	if !m.stream || m.mixed || ofContainers(name) {
		return nil
	}
	log := ageOf(name).log
	dir, again := m.dirs[log]
	if !again {
		m.dirs[log] = path.Dir(name)
		return nil
	}
	if m.mixed = dir != path.Dir(name); m.mixed {
		return errMixed
	}
	return nil
}

// membersOf reads the names of an archive's files: which node a file is from shows only in all of
// them together. An archive that comes as a stream can be read once only: its files are from no
// known node.
func membersOf(ctx context.Context, in Input) (members, error) {
	if in.Stream {
		return members{stream: true, dirs: map[string]string{}}, nil
	}
	rc, err := in.Open()
	if err != nil {
		return members{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = rc.Close() })
	defer func() {
		if stop() {
			_ = rc.Close()
		}
	}()
	outside := bufio.NewReaderSize(nil, headSize)
	b, head, err := unpacked(rc, outside)
	if err != nil {
		return members{}, err
	}
	var whole io.Reader
	if b == outside {
		whole = rc
	}
	var all []Input
	var m members
	add := func(name string) {
		m.tables = m.tables || name == tablesDir+"meta.json"
		if len(all) <= math.MaxUint16 && len(name) <= maxName {
			all = append(all, Input{Name: name})
		}
	}
	if isZip(head) {
		err = unzipped(b, whole, func(h *zip.File, _ io.Reader) { add(h.Name) })
	} else {
		err = bundled(b, func(h *tar.Header, _ io.Reader) { add(h.Name) })
	}
	nameNodes(all)
	m.nodes = make(map[string]string, len(all))
	for i := range all {
		m.nodes[all[i].Name] = all[i].Node
	}
	return m, err
}

// maxName is longer than any file system's.
const maxName = 4096

// tablesDir is where a bundle of Plumbline has its tables, which are no logs.
const tablesDir = "plumbline/"

func (m *members) isTable(name string) bool { return m.tables && strings.HasPrefix(name, tablesDir) }
