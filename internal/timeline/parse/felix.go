package parse

import "plumbline.dev/plumbline/internal/timeline/records"

// felix reports the name that Felix uses for its node. Its other lines only follow the datastore:
// that it removes a route or an interface shows that an endpoint is gone, not who deleted it,
// and would count one deletion twice.
func (t *Parser) felix(r *records.Record) {
	name := id(value(r.Text[len("Parsed value for FelixHostname: "):]))
	t.named(r, "felix", name)
	t.credential(r, new(call))
}
