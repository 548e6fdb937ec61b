package eventlog

import "strings"

// OfInterface begins the Writer of a row that went with its interface.
const OfInterface = "interface "

// Who says by whom or why a row changed, as the end of a sentence.
func (e *Entry) Who() string {
	switch {
	case strings.HasPrefix(e.Writer, OfInterface):
		return "because " + e.Writer
	case e.Writer != "":
		return "by " + e.Writer
	default:
		return "by an unknown process"
	}
}
