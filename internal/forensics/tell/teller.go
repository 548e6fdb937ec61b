// Package tell knows what components say: it turns records of logs into events. It holds
// one small reader per component and era, and the memory of which call is under way, for
// many lines tell only together whose they are.
package tell

import (
	"plumbline.dev/plumbline/internal/forensics"
	"plumbline.dev/plumbline/internal/forensics/read"
)

// A Teller tells the events of one file, line by line.
type Teller struct {
	emit func(forensics.Event)
	node string    // by the file, where lines don't say
	cni  calls     // CNI calls under way
	seen sandboxes // whose the IDs of the file are
}

// New gives a teller of one file's events.
func New(f *forensics.File, emit func(forensics.Event)) *Teller {
	return &Teller{emit: emit, node: f.Node}
}

// Wants tells whether a record may hold an event, by its look alone. It is asked of every
// line there is: it must be quick, and allocate nothing.
func Wants(r *read.Record) bool {
	switch r.Style {
	case read.Bracket:
		return wantsCalico(r)
	case read.Klog:
		return wantsKubelet(r)
	case read.Logrus:
		return wantsCalico2017(r) || wantsRuntime(r)
	case read.JSON:
		return wantsJSON(r)
	default:
		return wantsPlain(r) || wantsTable(r)
	}
}

// Tell emits what a wanted record tells.
func (t *Teller) Tell(r *read.Record) {
	switch r.Style {
	case read.Bracket:
		t.calico(r)
	case read.Klog:
		t.kubelet(r)
	case read.Logrus:
		if wantsCalico2017(r) {
			t.calico2017(r)
		} else {
			t.runtime(r)
		}
	case read.JSON:
		t.json(r)
	default:
		if wantsPlain(r) {
			t.plain(r)
		} else {
			t.table(r)
		}
	}
}

// tell emits an event with what its record says of time and place.
func (t *Teller) tell(r *read.Record, source string, e forensics.Event) {
	e.Source, e.At, e.Place = source, r.At, r.Place
	if e.Node == "" {
		e.Node = r.Node
	}
	if e.Node == "" {
		e.Node = t.node
	}
	if len(e.Note) > forensics.MaxNote {
		e.Note = e.Note[:forensics.MaxNote]
	}
	t.emit(e)
}
