package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// Lines of an IPAM block as etcdctl and kubectl print it: people paste it with most of its lines
// left out. Only its CIDR and its handles are read.

var blockKeys = [...]string{`"cidr":`, `"handle_id":`, `cidr:`, `handle_id:`, `- handle_id:`}

// blockLine gives the value of such a line, and whether it is a handle; nil if it is no such line.
func blockLine(text []byte) (value []byte, handle bool) {
	if len(text) > maxRow {
		return nil, false
	}
	for i, key := range blockKeys {
		rest, ok := bytes.CutPrefix(text, []byte(key))
		if !ok {
			continue
		}
		value, handle = bytes.Trim(rest, ` ",`), i != 0 && i != 2
		if handle && (!plainName(value) || bytes.IndexByte(value, '.') <= 0) || !handle && !ofBlock(value) {
			return nil, false
		}
		return value, handle
	}
	return nil, false
}

// ofBlock reports whether b is the CIDR of a block: 192.168.106.64/26.
func ofBlock(b []byte) bool {
	_, bits, ok := bytes.Cut(b, []byte{'/'})
	return ok && number(bits) && address(b).IsValid()
}

// ofIPAM emits such a line. A handle is of the block whose CIDR stands above it, less indented.
func (t *Parser) ofIPAM(r *records.Record) {
	value, handle := blockLine(r.Text)
	switch {
	case value == nil:
	case handle:
		if blanks(r.Raw) <= t.seen.indent {
			t.seen.block = ""
		}
		t.sayOf(r, "ipam record", timeline.Event{Kind: timeline.HandleSeen, Object: string(value), Note: t.seen.block})
	default:
		t.seen.block, t.seen.indent = string(value), blanks(r.Raw)
	}
}
