// Package parse knows what components say: it turns records of logs into events. It holds
// one small reader per component and era, and the memory of which call is under way, for
// many lines tell only together whose they are.
package parse

import (
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// A Parser tells the events of one file, line by line.
type Parser struct {
	emit func(timeline.Event)
	node string    // by the file, where lines don't say
	cni  calls     // CNI calls under way
	seen sandboxes // whose the IDs of the file are
}

// New gives a teller of one file's events.
func New(f *timeline.File, emit func(timeline.Event)) *Parser {
	return &Parser{emit: emit, node: f.Node}
}

// Wants tells whether a record may hold an event, by its look alone. It is asked of every
// line there is: it must be quick, and allocate nothing.
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

// Parse emits what a wanted record tells.
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

// event emits an event with what its record says of time and place.
func (t *Parser) event(r *records.Record, source string, e timeline.Event) {
	e.Source, e.At, e.Place = source, r.At, r.Place
	if e.Node == "" {
		e.Node = r.Node
	}
	if e.Node == "" {
		e.Node = t.node
	}
	if len(e.Note) > timeline.MaxNote {
		e.Note = e.Note[:timeline.MaxNote]
	}
	t.emit(e)
}
