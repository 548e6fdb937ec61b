package parse

import "plumbline.dev/plumbline/internal/timeline/records"

// felix tells by which name Felix knows its node. What else it logs only follows what the
// datastore says: that it takes away a route or a device shows that an endpoint is gone,
// not who deleted it, and would count one deletion twice.
func (t *Parser) felix(r *records.Record) {
	name := id(value(r.Text[len("Parsed value for FelixHostname: "):]))
	t.named(r, "felix", name)
	t.credential(r, new(call))
}
