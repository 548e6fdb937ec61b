package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline/records"
)

// People paste output of commands between the lines of a log. Such a row has no time; only its
// position among the lines shows when. A row is used only if every cell has a valid value for its
// column, so that prose is never taken for a row.

// Bounds of rows: a longer line or one with more cells is not a row.
const (
	maxRow   = 4 << 10
	maxCells = 12
)

// cells are the cells of a row. Commands separate them by three blanks or more; inside a cell
// there are single blanks.
type cells struct {
	all [maxCells][]byte // empty from n on
	n   int
}

// twoBlanks separates cells at least, unless a tab does.
var twoBlanks = []byte("  ")

// cut splits a row into its cells; it gives none if there are too many.
func cut(b []byte) (c cells) {
	for len(b) > 0 {
		if c.n == maxCells {
			return cells{}
		}
		end := 0
		for end < len(b) && b[end] != '\t' && (b[end] != ' ' || end+1 < len(b) && b[end+1] != ' ' && b[end+1] != '\t') {
			end++
		}
		c.all[c.n] = b[:end]
		c.n++
		b = bytes.TrimLeft(b[end:], " \t")
	}
	return c
}

// wantsRow reports whether a line without any header is a row, or a line above rows that
// shows where they are from.
func wantsRow(r *records.Record) bool {
	if len(r.Text) > maxRow || len(r.Raw)-len(r.Text) != blanks(r.Raw) {
		return false
	}
	if asksKubectl(r.Text) || wantsIP(r.Text) || handleLine(r.Text) != nil {
		return true
	}
	if !bytes.Contains(r.Text, twoBlanks) && bytes.IndexByte(r.Text, '\t') < 0 {
		return false
	}
	c := cut(r.Text)
	_, endpoint := endpointListed(&c)
	return endpoint || heads(&c) || podListed(&c) >= 0 || eventListed(&c) >= 0 || containerListed(&c)
}

// listed parses such a line.
func (t *Parser) listed(r *records.Record) {
	if len(r.Text) > maxRow || !r.At.IsZero() {
		return
	}
	if asksKubectl(r.Text) {
		t.seen.asked = listing{namespace: namespaceAsked(r.Text), next: r.Place.Line + 1}
		return
	}
	if wantsIP(r.Text) {
		t.ofIP(r)
		return
	}
	if handleLine(r.Text) != nil {
		t.ofIPAM(r)
		return
	}
	c := cut(r.Text)
	switch name, age := podListed(&c), eventListed(&c); {
	case heads(&c):
		t.seen.asked.goesOn(r)
	case name >= 0:
		t.podRow(r, c.all[:name], c.all[name:c.n])
	case age >= 0:
		t.eventRow(r, c.all[:age], c.all[age:c.n])
	case containerListed(&c):
		t.containerRow(r, &c)
	default:
		t.endpointRow(r, &c)
	}
}

// blanks counts the blanks that b begins with.
func blanks(b []byte) int { return len(b) - len(bytes.TrimLeft(b, " \t")) }
