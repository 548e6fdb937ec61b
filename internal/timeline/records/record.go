// Package records turns log files into records: it removes the headers that syslog, journald, the
// container runtime and the loggers put before a message, joins wrapped lines, and completes
// timestamps that lack year or zone. It does not interpret messages.
package records

import (
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// A Style is the format of a line, which decides how its message is parsed.
type Style uint8

// The styles.
const (
	Plain   Style = iota // no header of a logger: Text is all of it
	Klog                 // I1115 10:31:56.650149 36 kubelet.go:1601] message; also as ERROR:1212 …
	Logrus               // time=… level=… msg="…" key=value: Text is the message, unquoted; Fields the rest
	Bracket              // 2026-11-15 10:32:04.670 [INFO][365] cni-plugin/k8s.go 74: message key="value"
	JSON                 // one object per line: Text is all of it
)

// A Record is one line of a log without its headers, wrapped lines joined. It is valid only during
// the call that it is passed to: its bytes are reused.
type Record struct {
	At      time.Time       // zero if the line has none
	Zone    timeline.ZoneBy // how the zone of At is known
	Style   Style
	Node    string // by the line's own header (syslog, journald), else by the file
	Program string // by syslog or journald: kubelet, containerd, dockerd; may be empty
	PID     int    // of the logger's own header where it has one (Bracket), else of syslog's
	Level   byte   // D I W E F, 0 if not known
	Origin  string // source file of the message without its line: "kubelet.go", "cni-plugin/k8s.go"
	Text    []byte // the message
	Fields  []byte // Logrus: what follows the message
	Raw     []byte // the whole line, for the search for credentials
	Place   timeline.Place
}
