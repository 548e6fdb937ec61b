package guard

import (
	"net/netip"
	"strings"
)

// An Event is what is kept of a call: the row of a flight record's line. It never holds a
// configuration, or arguments other than those that identify.
type Event struct {
	Key
	Namespace string         `json:"namespace,omitempty"`
	Pod       string         `json:"pod,omitempty"`
	UID       string         `json:"uid,omitempty"`
	Delegate  string         `json:"delegate"`
	Mode      Mode           `json:"mode"`
	Rule      int            `json:"rule,omitempty"`
	Late      bool           `json:"late,omitempty"`
	Keyed     Keying         `json:"keyed,omitempty"`  // by what the delegate finds things, if that mattered
	Lost      []string       `json:"lost,omitempty"`   // by the name's newest owner, by a DEL that was not its own
	Says      string         `json:"says,omitempty"`   // why it was decided so
	Did       []string       `json:"did,omitempty"`    // beside the delegate's call
	Called    bool           `json:"called,omitempty"` // the delegate was
	Took      int64          `json:"took"`             // milliseconds
	Code      int            `json:"code,omitempty"`   // of the exit
	Error     string         `json:"error,omitempty"`
	IPs       []netip.Prefix `json:"ips,omitempty"`
	Device    string         `json:"device,omitempty"`
	Trouble   []string       `json:"trouble,omitempty"` // of the guard's own
}

// Subject is what the event is about: the pod, or the container if none was named.
func (e *Event) Subject() string {
	if e.Pod == "" {
		return e.Container
	}
	return e.Namespace + "/" + e.Pod
}

// Note is the event in words.
func (e *Event) Note() string {
	var out []string
	for _, s := range append([]string{e.Says, e.Error}, append(e.Did, e.Trouble...)...) {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "; ")
}
