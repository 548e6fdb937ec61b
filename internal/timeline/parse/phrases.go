package parse

import (
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// A phrase is how a message begins that tells something, and who understands it.
type phrase struct {
	begins string
	parse  func(*Parser, *records.Record)
}

// heard gives the phrase that a text begins with, or nil. Phrases of one file begin alike:
// their last byte tells most of them apart.
func heard(phrases []phrase, text []byte) *phrase {
	for i := range phrases {
		begins := phrases[i].begins
		if last := len(begins) - 1; last < len(text) && text[last] == begins[last] && string(text[:last]) == begins[:last] {
			return &phrases[i]
		}
	}
	return nil
}

// say emits an event with what earlier lines of the file said of its IDs.
func (t *Parser) say(r *records.Record, source string, e timeline.Event) {
	t.seen.complete(&e)
	t.event(r, source, e)
}

// sayOf emits an event that need not have happened where its line was written: the node
// is what the event says, or unknown.
func (t *Parser) sayOf(r *records.Record, source string, e timeline.Event) {
	t.seen.complete(&e)
	e.Source, e.Place = source, r.Place
	if e.At.IsZero() {
		e.At = r.At
	}
	t.emit(e)
}
