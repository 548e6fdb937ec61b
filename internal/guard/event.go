package guard

import (
	"net/netip"
	"strings"
)

// An Event is what is stored of a call: the Now value of an entry in the event log. It
// never holds a configuration, nor arguments other than those that identify the call.
type Event struct {
	Key
	Namespace string         `json:"namespace,omitempty"` // of the pod
	Pod       string         `json:"pod,omitempty"`       // that the call names
	UID       string         `json:"uid,omitempty"`       // of the pod
	Delegate  string         `json:"delegate"`            // type of the wrapped plugin
	Mode      Mode           `json:"mode"`
	Rule      int            `json:"rule,omitempty"`    // by which it was decided: docs/guard.md
	Late      bool           `json:"late,omitempty"`    // a newer sandbox has the name already
	Keyed     Keying         `json:"keyed,omitempty"`   // how the delegate finds objects, if that mattered
	Lost      []string       `json:"lost,omitempty"`    // what the newest owner of the name lost by another sandbox's DEL
	Says      string         `json:"says,omitempty"`    // the reason of the decision
	Doubt     string         `json:"doubt,omitempty"`   // why it is not certain that the newer pod is protected
	Did       []string       `json:"did,omitempty"`     // what the guard did beside the delegate's call
	Called    bool           `json:"called,omitempty"`  // the delegate was called
	Took      int64          `json:"took"`              // milliseconds
	Code      int            `json:"code,omitempty"`    // exit code
	Error     string         `json:"error,omitempty"`   // of the call
	IPs       []netip.Prefix `json:"ips,omitempty"`     // that an ADD assigned
	Device    string         `json:"device,omitempty"`  // on the host
	Trouble   []string       `json:"trouble,omitempty"` // errors of the guard itself
}

// Texts of Did that readers of the event log compare with: see stillQueued in internal/cli/guard.
const (
	DidQueue   = "queued a DEL"
	DidRelease = "released the addresses of the container ID"
	DidCleanUp = "cleaned up with a DEL"
)

// Subject is the pod of the event, or the container if the call named no pod.
func (e *Event) Subject() string {
	if e.Pod == "" {
		return e.Container
	}
	return e.Namespace + "/" + e.Pod
}

// Note is the event as text.
func (e *Event) Note() string {
	var out []string
	for _, s := range append([]string{e.Says, e.Doubt, e.Error}, append(e.Did, e.Trouble...)...) {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "; ")
}
