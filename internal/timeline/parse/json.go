package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline/records"
)

// maxJSON bounds what is decoded at once. A pod may be 1.5 MB in an audit log.
const maxJSON = 4 << 20

// wantsJSON searches for a few words that lines of use contain: most lines are of an audit log,
// and long.
func wantsJSON(r *records.Record) bool {
	switch text := r.Text; {
	case ofAudit(text):
		return wantsAudit(text)
	case ofEventLog(text):
		return wantsEventLog(text)
	case bytes.Contains(text, needleCaller):
		return wantsKlogJSON(text)
	default:
		return ofEvents(text)
	}
}

func (t *Parser) json(r *records.Record) {
	t.secrets(r)
	switch text := r.Text; {
	case ofAudit(text):
		t.audit(r)
	case ofEventLog(text):
		t.eventLog(r)
	case bytes.Contains(text, needleCaller):
		t.klogJSON(r)
	default:
		t.events(r)
	}
}
