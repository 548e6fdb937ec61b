package timeline

import (
	"fmt"
	"net/netip"
	"time"
)

// A Place identifies a log line: the number of the file in Log.Files, and the number of the
// line in it, from one; of wrapped lines the first.
type Place struct {
	File uint16
	Line uint32
}

// An Event is what one log line reports. Fields that the line does not have are empty; package
// parse fills in what other lines of the same CNI call show.
type Event struct {
	At        time.Time  `json:"at"` // when it happened
	Kind      Kind       `json:"kind"`
	Source    string     `json:"source"`              // kubelet, containerd, crio, dockerd, cni, ipam, felix, controllers, events, audit, eventlog
	Node      string     `json:"node,omitempty"`      // where it happened, if known
	Pod       string     `json:"pod,omitempty"`       // NAMESPACE/NAME
	UID       string     `json:"uid,omitempty"`       // of the pod
	Sandbox   string     `json:"sandbox,omitempty"`   // container ID, as long as the line has it
	Container string     `json:"container,omitempty"` // ID of a container of the pod
	Address   netip.Addr `json:"address,omitzero"`    // that it is about
	Device    string     `json:"device,omitempty"`    // on the host
	Object    string     `json:"object,omitempty"`    // handle, endpoint, block or mount: see Kind
	Note      string     `json:"note,omitempty"`      // the component's own words, without secrets, at most MaxNote bytes
	Count     int        `json:"count,omitempty"`     // how often, where one line stands for many
	Place     Place      `json:"-"`
	Zone      ZoneBy     `json:"-"` // how the zone of At is known
}

// A ZoneBy is how the zone of a time is known. The order of two events may rest on it.
type ZoneBy uint8

// The ways. Only the first three give an order that proves something.
const (
	ZoneShown    ZoneBy = iota // by its own timestamp, by others of its node, or by the user
	ZoneFollowed               // by other timestamps of its file, as they change
	ZoneOfFile                 // by one line of its file for all: it may have changed since
	ZoneInferred               // by events that other logs report too
	ZoneAssumed                // by nothing: it is read as UTC
)

// MaxNote bounds an event's note: it is enough to recognise an error.
const MaxNote = 512

// A File is one log file, and what had to be guessed about it.
type File struct {
	Name    string      `json:"name"`              // of the file
	Lines   uint32      `json:"lines"`             // that were read
	Bytes   int64       `json:"bytes"`             // that were read
	Node    string      `json:"node,omitempty"`    // the node it is from, for lines that do not name one
	East    int         `json:"east,omitempty"`    // seconds east of UTC, of its timestamps without a zone
	Zones   []ZoneSince `json:"-"`                 // zones of its own timestamps, if they change or nothing else shows one
	Own     bool        `json:"-"`                 // a zone is shown by timestamps that programs of the node write, not those of containers
	Zoned   bool        `json:"zoned,omitempty"`   // East is known: by its own timestamps, those of its node, or its node's setting
	Ends    time.Time   `json:"ends,omitzero"`     // time of its last line that has one
	Ahead   int64       `json:"ahead,omitempty"`   // seconds by which its times are corrected: its node's clock is ahead; negative: behind
	Guessed []string    `json:"guessed,omitempty"` // such as "timestamps without a year: 2017, from …"
	Left    []string    `json:"left,omitempty"`    // what was not read, and why
	Turned  []uint32    `json:"-"`                 // read from the last line to the first: the numbers of its lines, as read

	Understood uint32 `json:"understoodLines"` // of a known form and component, whatever they say
	// Unknown lines are of no form or component that is known: nothing is said about them.
	Unknown  uint32 `json:"unknownLines"`
	Sample   string `json:"sample,omitempty"`   // the first unknown line, cut, without what looks like a credential
	SampleAt uint32 `json:"sampleAt,omitempty"` // its number
	Guess    string `json:"guess,omitempty"`    // what the file may be
}

// Number gives the number that a line has in the file, by that of its Place, which counts lines as
// they were read.
func (f *File) Number(line uint32) uint32 {
	if line > 0 && int(line) <= len(f.Turned) {
		return f.Turned[line-1]
	}
	return line
}

// At gives FILE:LINE, by the line of a Place.
func (f *File) At(line uint32) string { return fmt.Sprintf("%s:%d", f.Name, f.Number(line)) }
