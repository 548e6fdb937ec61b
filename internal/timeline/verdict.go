package timeline

import (
	"net/netip"
	"time"
)

// A Certainty is how certain a verdict is.
type Certainty string

// The certainties. What is less than likely is no verdict, but may be mentioned in NotShown.
const (
	Proven Certainty = "proven" // the lines themselves show it, in an order that does not depend on two clocks
	Likely Certainty = "likely" // they fit, but a step was not logged, or two clocks had to be compared
)

// A Cause is the kind of a verdict.
type Cause string

// The causes.
const (
	LateDel          Cause = "late DEL"                               // the DEL of an older sandbox removed objects of a newer one
	RetriedDel       Cause = "retried DEL"                            // a DEL fails repeatedly
	FailingAdd       Cause = "failing ADD"                            // ADDs of a pod fail one after the other: it has no network, and does not start
	AddressMoved     Cause = "address changed hands"                  // the pod's name had one address, then another, or an address had one pod, then another
	AddWithoutDel    Cause = "ADD without DEL"                        // a sandbox was followed by another without a DEL of its own: its address may have leaked
	DelNeverCame     Cause = "DEL never came"                         // the pod is gone, and its last sandbox was never deleted
	TeardownBlocked  Cause = "teardown blocked"                       // by the runtime, a mount, or a mount held elsewhere
	ReleasedInUse    Cause = "released by the IPAM garbage collector" // of calico-kube-controllers, while a running pod used the address (calico issue 12257)
	StaleNodename    Cause = "stale node name"                        // Calico CNI uses the name of another node
	DuplicateAddress Cause = "duplicate address"                      // one listing shows an address for several pods
	NoGateway        Cause = "gateway not resolved"                   // a pod gets no ARP reply for 169.254.1.1
	LegacyHandle     Cause = "legacy handle"                          // a handle named after its pod: a DEL of any pod of that name releases it
	Credential       Cause = "credential in the log"                  // PL9002
)

// A Verdict is what the log lines show of a pod's network: which call did what to which sandbox,
// with the lines that it rests on.
type Verdict struct {
	Cause     Cause      `json:"cause"`
	Certainty Certainty  `json:"certainty"`
	Pod       string     `json:"pod,omitempty"`      // NAMESPACE/NAME
	Pods      []string   `json:"pods,omitempty"`     // all of them, where it is about several
	Node      string     `json:"node,omitempty"`     // on which it happened
	At        time.Time  `json:"at,omitzero"`        // when it happened, or began
	Until     time.Time  `json:"until,omitzero"`     // the last time, for what lasts or is repeated
	Count     int        `json:"count,omitempty"`    // how often
	Culprit   string     `json:"culprit,omitempty"`  // sandbox whose DEL it was, or that is not deleted
	Victim    string     `json:"victim,omitempty"`   // sandbox that lost something
	Lost      []string   `json:"lost,omitempty"`     // endpoint, handle, address
	Was       netip.Addr `json:"was,omitzero"`       // address, before
	Is        netip.Addr `json:"is,omitzero"`        // address, after
	Error     string     `json:"error,omitempty"`    // the component's message
	Says      string     `json:"says"`               // one line of text
	NotShown  []string   `json:"notShown,omitempty"` // what these lines cannot show
	Lines     []Place    `json:"-"`                  // that it rests on, sorted
}

// A Sandbox is one sandbox of a pod name.
type Sandbox struct {
	ID        string       `json:"id"`                  // the longest form that any line has
	Node      string       `json:"node,omitempty"`      // on which it is
	UID       string       `json:"uid,omitempty"`       // of its pod
	Addresses []netip.Addr `json:"addresses,omitempty"` // that it got
	Device    string       `json:"device,omitempty"`    // on the host
	Added     time.Time    `json:"added,omitzero"`      // when its ADD ended
	Deleted   time.Time    `json:"deleted,omitzero"`    // when its first successful DEL ended
}

// A Story is everything that the lines show of one pod name: every sandbox that it had, on all
// nodes, and their events in order.
type Story struct {
	Pod       string    `json:"pod"`
	Sandboxes []Sandbox `json:"sandboxes,omitempty"`
	Events    []Event   `json:"events,omitempty"`
	Verdicts  []Verdict `json:"verdicts,omitempty"`
	NotShown  []string  `json:"notShown,omitempty"` // about the story as a whole

	Unexplained []Unexplained `json:"-"` // also in NotShown

	Also  map[int][]Place `json:"-"` // by event: further lines that report the same
	apart []Event         // of a zone that is not known, unlike that of Events: no order with them is known
	cover cover
}
