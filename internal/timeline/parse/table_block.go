package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// Lines of an IPAM block as etcdctl and kubectl print it: people paste it with most of its lines
// left out. Only its handles are read; of which block they are, their lines do not show.

var handleKeys = [...][]byte{[]byte(`"handle_id":`), []byte(`handle_id:`), []byte(`- handle_id:`)}

// handleLine gives the handle of such a line; nil if it is none.
func handleLine(text []byte) []byte {
	if len(text) > maxRow {
		return nil
	}
	for _, key := range handleKeys {
		if rest, ok := bytes.CutPrefix(text, key); ok {
			if value := bytes.Trim(rest, ` ",`); plainName(value) && bytes.IndexByte(value, '.') > 0 {
				return value
			}
		}
	}
	return nil
}

// ofIPAM emits such a line.
func (t *Parser) ofIPAM(r *records.Record) {
	t.sayOf(r, "ipam record", timeline.Event{Kind: timeline.HandleSeen, Object: string(handleLine(r.Text))})
}
