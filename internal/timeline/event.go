package timeline

import (
	"fmt"
	"net/netip"
	"time"
)

// A Place is where a line stands: the file's number in the log's list, and the number of
// its first line, from one.
type Place struct {
	File uint16
	Line uint32
}

// An Event is what one line tells. Fields that the line does not have are empty; what
// follows from other lines of the same call is filled in by tell.
type Event struct {
	At        time.Time  `json:"at"`
	Kind      Kind       `json:"kind"`
	Source    string     `json:"source"`              // kubelet, containerd, crio, dockerd, cni, ipam, felix, controllers, events, audit, flight
	Node      string     `json:"node,omitempty"`      // on which it happened, if known
	Pod       string     `json:"pod,omitempty"`       // NAMESPACE/NAME
	UID       string     `json:"uid,omitempty"`       // of the pod
	Sandbox   string     `json:"sandbox,omitempty"`   // container ID, as long as the line has it
	Container string     `json:"container,omitempty"` // ID of a container of the pod
	Address   netip.Addr `json:"address,omitzero"`
	Device    string     `json:"device,omitempty"` // on the host
	Object    string     `json:"object,omitempty"` // handle, endpoint, block or mount: see Kind
	Note      string     `json:"note,omitempty"`   // the component's own words, without secrets, at most MaxNote bytes
	Count     int        `json:"count,omitempty"`  // how often, where one line stands for many
	Place     Place      `json:"-"`
}

// MaxNote bounds an event's note: an error needs no more to be known again.
const MaxNote = 512

// A File is one source of lines, and what had to be guessed about it.
type File struct {
	Name    string    `json:"name"`
	Lines   uint32    `json:"lines"`
	Bytes   int64     `json:"bytes"`
	Node    string    `json:"node,omitempty"`    // whose it is, where lines don't say
	East    int       `json:"east,omitempty"`    // seconds east of UTC, by its own stamps
	Ends    time.Time `json:"ends,omitzero"`     // time of its last line that has one
	Guessed []string  `json:"guessed,omitempty"` // such as "no year in its stamps: 2017, by …"
	Left    []string  `json:"left,omitempty"`    // what was not read, and why
}

// At gives file and line, as a person would look them up.
func (f *File) At(line uint32) string { return fmt.Sprintf("%s:%d", f.Name, line) }
