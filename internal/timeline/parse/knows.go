package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline/records"
)

// knows reports whether a line is of a form and component that is parsed, whatever it says. It is
// called for every line that Wants rejects, from several goroutines, like Wants.
func knows(r *records.Record) bool {
	switch r.Style {
	case records.Bracket, records.Klog, records.Logrus:
		return true
	case records.JSON:
		return ofAudit(r.Text) || ofEventLog(r.Text) || bytes.Contains(r.Text, needleCaller) || ofEvents(r.Text)
	default:
		// A line of another program in the system's log is none of ours, and known to be.
		return r.Program != "" || ofEventLog(r.Text)
	}
}
