package guard

import "net/netip"

// A State is the progress of an attachment.
type State string

// The states of an attachment. Transitions: Adding to Added, Failed or Deleted; Added and
// Failed to Deleted; every state to Adding by another ADD.
const (
	Adding  State = "adding"  // its ADD has begun
	Added   State = "added"   // its ADD succeeded
	Failed  State = "failed"  // its ADD failed
	Deleted State = "deleted" // a DEL succeeded, or was answered with success
)

// An Owner is the ownership record of one attachment. It is valid until the node reboots.
type Owner struct {
	Key
	Namespace string         `json:"namespace,omitempty"`
	Pod       string         `json:"pod,omitempty"`
	UID       string         `json:"uid,omitempty"`
	Seq       uint64         `json:"seq"` // order of ADDs on this node, unique and increasing; never from time, attempt or UID
	State     State          `json:"state"`
	PID       int            `json:"pid,omitempty"`   // of the guard process that runs its ADD; 0 if adopted
	Start     uint64         `json:"start,omitempty"` // start time of that process, in ticks after boot: PID and Start identify it
	NetNS     string         `json:"netns,omitempty"` // path of the network namespace
	Inode     uint64         `json:"inode,omitempty"` // of that namespace; 0 if unknown
	IPs       []netip.Prefix `json:"ips,omitempty"`
	Device    string         `json:"device,omitempty"` // host interface
	Again     bool           `json:"again,omitempty"`  // a second ADD came for it, which violates the CNI protocol
}

// Name returns the name that the attachment owns or owned.
func (o *Owner) Name() Name { return Name{o.Network, o.Namespace, o.Pod, o.IfName} }

// A QueuedDel is a DEL that the guard must still carry out, because no runtime repeats it.
type QueuedDel struct {
	Call
	Why string `json:"why"`
	At  int64  `json:"at"` // not before, in seconds after boot

	Tries int  `json:"tries,omitempty"` // how often it was postponed
	Rest  bool `json:"rest,omitempty"`  // what the plugin finds by container ID is released; what it finds by name waits for the name
}
