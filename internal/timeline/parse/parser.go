// Package parse turns log records into events. It has one small parser per component and era, and
// keeps the CNI calls under way (calls) and the owners of IDs (sandboxes), because many lines only
// show together which sandbox they belong to.
package parse

import (
	"cmp"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// A Parser emits the events of one file. Parse must be called with the lines in file order and
// from one goroutine.
type Parser struct {
	emit func(timeline.Event)
	file *timeline.File
	node string    // node of the file, for lines that do not name one
	cni  calls     // CNI calls of the file
	seen sandboxes // owners of the IDs of the file

	newer bool // the file is an event log of a newer version, which is not read
}

// New gives a parser of one file.
func New(f *timeline.File, emit func(timeline.Event)) *Parser {
	return &Parser{emit: emit, file: f, node: f.Node}
}

// Wants reports whether a record may contain an event, without any context. It is called for every
// line, from several goroutines: it must be fast, allocate nothing and keep nothing.
func Wants(r *records.Record) bool {
	switch r.Style {
	case records.Bracket:
		return wantsCalico(r)
	case records.Klog:
		return wantsKubelet(r)
	case records.Logrus:
		return wantsCalico2017(r) || wantsRuntime(r)
	case records.JSON:
		return wantsJSON(r)
	default:
		return wantsPlain(r) || wantsTable(r)
	}
}

// Parse emits the events of a wanted record.
func (t *Parser) Parse(r *records.Record) {
	switch r.Style {
	case records.Bracket:
		t.calico(r)
	case records.Klog:
		t.kubelet(r)
	case records.Logrus:
		if wantsCalico2017(r) {
			t.calico2017(r)
		} else {
			t.runtime(r)
		}
	case records.JSON:
		t.json(r)
	default:
		if wantsPlain(r) {
			t.plain(r)
		} else {
			t.table(r)
		}
	}
}

// event emits an event with time, place and node of its record.
func (t *Parser) event(r *records.Record, source string, e timeline.Event) {
	e.Source, e.At, e.Zone, e.Place = source, r.At, r.Zone, r.Place
	e.Node = cmp.Or(e.Node, r.Node, t.node)
	if len(e.Note) > timeline.MaxNote {
		e.Note = e.Note[:timeline.MaxNote]
	}
	t.emit(e)
}
