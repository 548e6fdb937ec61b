package snapshotio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// Limits for a bundle from an untrusted source.
const (
	maxLine    = 16 << 20
	maxUnknown = 64 << 20
	maxNodes   = 20000
)

// A snapshot of another schema is refused: its rows have other names, and a row that is read
// without one of its fields looks like a fault of the cluster.
var (
	ErrNewer = errors.New("written by a newer Plumbline; upgrade to read it")
	ErrOlder = errors.New("written by an older Plumbline; read it with that version, or collect it again")
)

// A decoder takes sections in any order; the parts of one section are joined.
type decoder struct {
	s           model.Snapshot
	sections    map[string]bool
	hasMeta     bool
	hasCoverage bool
	unknown     int
	rows, most  int // rows so far, and their limit; 0: no limit

	weight     int64        // of the lines so far
	mostWeight func() int64 // their limit as of now; nil or 0: no limit
}

// weigh refuses a line before it is decoded if its memory and that of those before are too much.
func (d *decoder) weigh(line []byte) error {
	if d.mostWeight == nil {
		return nil
	}
	d.weight += int64(Weight(line))
	if most := d.mostWeight(); most > 0 && d.weight > most {
		return fmt.Errorf("%w: more than %d MiB of memory", ErrTooMuch, most>>20)
	}
	return nil
}

// Section reads one section.
func (d *decoder) Section(file string, in io.Reader) error {
	if d.sections == nil {
		d.sections = map[string]bool{}
	}
	d.sections[file] = true
	if file == metaFile {
		return d.meta(in)
	}
	if file == coverageFile {
		d.hasCoverage = true
		return d.lines(file, in, func(line []byte) error {
			err := decodeInto(&d.s.Coverage, line)
			if errors.Is(err, model.ErrUnknownTable) {
				return nil // of a newer version: its rows are kept as an unknown section
			}
			return err
		})
	}
	for _, sec := range sections {
		if sec.file == file {
			return d.lines(file, in, func(line []byte) error { return sec.decode(&d.s, line) })
		}
	}
	if rest, ok := strings.CutPrefix(file, "nodes/"); ok {
		node, table, _ := strings.Cut(rest, "/")
		for _, sec := range nodeSections {
			if sec.table.String()+".jsonl" == table && node != "" {
				f, err := d.nodeState(node)
				if err != nil {
					return err
				}
				return d.lines(file, in, func(line []byte) error { return sec.decode(f, line) })
			}
		}
	}
	return d.keep(file, in)
}

func (d *decoder) meta(in io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(in, maxLine))
	if err != nil {
		return fmt.Errorf("read %s: %w", metaFile, err)
	}
	if err := d.weigh(b); err != nil {
		return fmt.Errorf("read %s: %w", metaFile, err)
	}
	if err := decodeRow(bytes.TrimSpace(b), &d.s.Meta); err != nil {
		return fmt.Errorf("read %s: %w", metaFile, err)
	}
	switch {
	case d.s.Meta.Schema > model.Schema:
		return fmt.Errorf("schema %d, supported is %d: %w", d.s.Meta.Schema, model.Schema, ErrNewer)
	case d.s.Meta.Schema < model.Schema:
		return fmt.Errorf("schema %d, supported is %d: %w", d.s.Meta.Schema, model.Schema, ErrOlder)
	}
	d.hasMeta = true
	return nil
}

func (d *decoder) nodeState(node string) (*model.NodeState, error) {
	if d.s.NodeState == nil {
		d.s.NodeState = map[string]*model.NodeState{}
	}
	f := d.s.NodeState[node]
	if f == nil {
		if len(d.s.NodeState) >= maxNodes {
			return nil, fmt.Errorf("more than %d nodes", maxNodes)
		}
		f = &model.NodeState{}
		d.s.NodeState[node] = f
	}
	return f, nil
}

func (d *decoder) keep(file string, in io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(in, int64(maxUnknown-d.unknown)+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	if d.unknown += len(b); d.unknown > maxUnknown {
		return fmt.Errorf("read %s: unknown sections exceed %d bytes", file, maxUnknown)
	}
	if d.s.Unknown == nil {
		d.s.Unknown = map[string][]byte{}
	}
	d.s.Unknown[file] = append(d.s.Unknown[file], b...)
	return nil
}

func (d *decoder) lines(file string, in io.Reader, each func([]byte) error) error {
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 0, 64<<10), maxLine)
	for n := 1; sc.Scan(); n++ {
		line := bytes.TrimSpace(sc.Bytes())
		if len(line) == 0 {
			continue
		}
		if d.rows++; d.most > 0 && d.rows > d.most {
			return fmt.Errorf("%s: %w: more than %d rows", file, ErrTooMuch, d.most)
		}
		if err := d.weigh(line); err != nil {
			return fmt.Errorf("%s line %d: %w", file, n, err)
		}
		if err := each(line); err != nil {
			return fmt.Errorf("%s line %d: %w", file, n, err)
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

// Snapshot returns what was read. Without a coverage section, a table that has a section is
// complete; one without a section was not read, which is not the same as empty.
func (d *decoder) Snapshot() (*model.Snapshot, error) {
	if !d.hasMeta {
		return nil, errors.New("not a Plumbline snapshot: meta.json is missing")
	}
	if !d.hasCoverage {
		d.assumeComplete()
	}
	return &d.s, nil
}

func (d *decoder) assumeComplete() {
	add := func(t model.Table, node string) {
		d.s.Coverage = append(d.s.Coverage, model.Coverage{Table: t, Node: node, State: model.Complete})
	}
	for _, t := range model.Tables() {
		if d.sections[t.Base().String()+".jsonl"] {
			add(t, "")
		}
	}
	for node := range d.s.NodeState {
		for _, sec := range nodeSections {
			if d.sections["nodes/"+node+"/"+sec.table.String()+".jsonl"] {
				add(sec.table, node)
			}
		}
	}
}
