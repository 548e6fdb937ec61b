package parse

import (
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// A phrase is the beginning of a message that is parsed, and its parser.
type phrase struct {
	begins string
	parse  func(*Parser, *records.Record)
}

// phrases are beginnings that one parser parses.
func phrases(parse func(*Parser, *records.Record), begins ...string) (out []phrase) {
	for _, b := range begins {
		out = append(out, phrase{b, parse})
	}
	return out
}

// heard gives the phrase that a text begins with, or nil. Phrases of one source file begin alike,
// so the last byte is compared first.
func heard(says []phrase, text []byte) *phrase {
	for i := range says {
		begins := says[i].begins
		if last := len(begins) - 1; last < len(text) && text[last] == begins[last] && string(text[:last]) == begins[:last] {
			return &says[i]
		}
	}
	return nil
}

// say emits an event, completed with what earlier lines of the file show of its IDs.
func (t *Parser) say(r *records.Record, source string, e timeline.Event) {
	t.seen.complete(&e)
	t.event(r, source, e)
}

// sayOnce emits an event of the call that it has once, and reports whether this is the first.
func (t *Parser) sayOnce(r *records.Record, source string, k *call, kind timeline.Kind, object, note string) bool {
	if !k.once(kind) {
		return false
	}
	e := k.event(kind)
	e.Object, e.Note = object, note
	t.say(r, source, e)
	return true
}

// sayOf emits an event that may have happened on another node than its line was written on: the
// node is that of the event, or unknown.
func (t *Parser) sayOf(r *records.Record, source string, e timeline.Event) {
	t.seen.complete(&e)
	e.Source, e.Place = source, r.Place
	if e.At.IsZero() {
		e.At = r.At
	}
	t.emit(e)
}
