package guard

import "net/netip"

// A State is how far an attachment has come.
type State string

// The states of an attachment.
const (
	Adding  State = "adding"  // its ADD was begun
	Added   State = "added"   // and succeeded
	Failed  State = "failed"  // and did not
	Deleted State = "deleted" // a DEL succeeded
)

// An Owner is the record of one attachment. It lives as long as the boot.
type Owner struct {
	Key
	Namespace string         `json:"namespace,omitempty"`
	Pod       string         `json:"pod,omitempty"`
	UID       string         `json:"uid,omitempty"`
	Seq       uint64         `json:"seq"` // order of ADDs on this node: never time, attempt or UID
	State     State          `json:"state"`
	PID       int            `json:"pid,omitempty"`   // of the guard that runs its ADD
	Start     uint64         `json:"start,omitempty"` // when that process began, in ticks after the boot
	NetNS     string         `json:"netns,omitempty"` // path
	Inode     uint64         `json:"inode,omitempty"` // of that namespace
	IPs       []netip.Prefix `json:"ips,omitempty"`
	Device    string         `json:"device,omitempty"` // on the host
	Again     bool           `json:"again,omitempty"`  // a second ADD came for it: against the protocol
}

// Name is the name that it owns, or owned.
func (o *Owner) Name() Name { return Name{o.Network, o.Namespace, o.Pod, o.IfName} }

// A QueuedDel is a DEL that must still come: nobody else will ask for it again.
type QueuedDel struct {
	Call
	Why string `json:"why"`
	At  int64  `json:"at"` // not before, in seconds after the boot

	Tries int  `json:"tries,omitempty"` // how often it was put off
	Rest  bool `json:"rest,omitempty"`  // what is the container's is released; what is found by name waits for the name
}
