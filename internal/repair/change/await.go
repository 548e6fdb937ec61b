package change

import (
	"fmt"
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// An Await waits until the node routes IP to Device, at most Seconds. It writes nothing.
type Await struct {
	single
	Node    string     `json:"node"`
	IP      netip.Addr `json:"ip"`
	Device  string     `json:"device"`
	Seconds int        `json:"seconds"`
}

// Key is the name in the JSON of a step.
func (a *Await) Key() string { return "await" }

// Kind is any.
func (a *Await) Kind() model.Kind { return "" }

// Describe names the route.
func (a *Await) Describe() string {
	return fmt.Sprintf("wait until Felix sets the route %s dev %s (at most %ds, no write)", a.IP, a.Device, a.Seconds)
}

// LeastRisk is Safe.
func (a *Await) LeastRisk() Risk { return Safe }

// Validate needs no proof.
func (a *Await) Validate(u Use) error { return u.each(unproven) }

// Undo does nothing: nothing was written.
func (a *Await) Undo(Write, Undoer) {}
