package timeline

import (
	"net/netip"
	"time"
)

// A Certainty says how sure a verdict is.
type Certainty string

// The certainties. What is not even likely is no verdict, but may be said in NotShown.
const (
	Proven Certainty = "proven" // the lines themselves show it
	Likely Certainty = "likely" // they fit, but a step of it was not logged
)

// A Cause is a sort of verdict.
type Cause string

// The causes.
const (
	LateDel         Cause = "late DEL"                  // an older sandbox's DEL took what a newer one had
	EndlessDel      Cause = "endless DEL"               // a DEL fails again and again; the next pod of that name is its next victim
	AddressMoved    Cause = "address changed hands"     // the pod's name had one address, then another, or an address had one pod, then another
	AddWithoutDel   Cause = "ADD without DEL"           // a sandbox was followed by another without a DEL of its own: what it had may have leaked
	DelNeverCame    Cause = "DEL never came"            // the pod is gone, and its last sandbox was never deleted
	TeardownBlocked Cause = "teardown blocked"          // by the runtime, a mount, or a mount held elsewhere
	ReleasedInUse   Cause = "released by the collector" // kube-controllers freed what a living pod used (calico issue 12257)
	StaleNodename   Cause = "stale node name"           // Calico's CNI calls its node by another's name
	Credential      Cause = "credential in the log"     // PL9002
)

// A Verdict is an answer to "who did it", with its lines.
type Verdict struct {
	Cause     Cause      `json:"cause"`
	Certainty Certainty  `json:"certainty"`
	Pod       string     `json:"pod,omitempty"`
	Node      string     `json:"node,omitempty"`
	At        time.Time  `json:"at,omitzero"`       // when it happened, or began
	Until     time.Time  `json:"until,omitzero"`    // when it was last seen, for what goes on
	Count     int        `json:"count,omitempty"`   // how often
	Culprit   string     `json:"culprit,omitempty"` // sandbox whose DEL it was, or that is not deleted
	Victim    string     `json:"victim,omitempty"`  // sandbox that lost something
	Lost      []string   `json:"lost,omitempty"`    // endpoint, handle, address
	Was       netip.Addr `json:"was,omitzero"`
	Is        netip.Addr `json:"is,omitzero"`
	Error     string     `json:"error,omitempty"`    // the component's own words
	Says      string     `json:"says"`               // in one line
	NotShown  []string   `json:"notShown,omitempty"` // what these lines cannot tell
	Lines     []Place    `json:"-"`                  // that it rests on, in order
}

// A Sandbox is one life of a pod's name.
type Sandbox struct {
	ID        string       `json:"id"` // as long as any line had it
	Node      string       `json:"node,omitempty"`
	UID       string       `json:"uid,omitempty"`
	Addresses []netip.Addr `json:"addresses,omitempty"`
	Device    string       `json:"device,omitempty"`
	Added     time.Time    `json:"added,omitzero"`   // when its ADD ended
	Deleted   time.Time    `json:"deleted,omitzero"` // when its first successful DEL ended
}

// A Story is all that is known of one pod's name: every sandbox that it had, on
// whichever node, and what happened to them in order.
type Story struct {
	Pod       string    `json:"pod"`
	Sandboxes []Sandbox `json:"sandboxes,omitempty"`
	Events    []Event   `json:"events,omitempty"`
	Verdicts  []Verdict `json:"verdicts,omitempty"`
	NotShown  []string  `json:"notShown,omitempty"` // of the story as a whole

	Also  map[int][]Place `json:"-"` // by event: further lines that tell the same
	cover Cover
}
