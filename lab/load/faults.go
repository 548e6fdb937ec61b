package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Kind is a kind of fault.
type Kind string

// The faults that can be injected. Each gets its own pod or address.
const (
	Leaked           Kind = "leaked"             // allocation and handle of a pod that does not exist
	Unallocated      Kind = "unallocated"        // running pod whose address is free in its block
	OrphanHandle     Kind = "orphan-handle"      // handle without an address
	MiscountedHandle Kind = "miscounted-handle"  // handle that counts three addresses and holds one
	MissingHandle    Kind = "missing-handle"     // allocation whose handle does not exist
	NoAnnotation     Kind = "no-annotation"      // running pod without an endpoint: empty annotations, or no WorkloadEndpoint
	StaleEndpoint    Kind = "stale-endpoint"     // WorkloadEndpoint of a pod that is gone; etcd only
	SharedAddress    Kind = "shared-address"     // two running pods with the same address
	WrongNode        Kind = "wrong-node"         // allocation with the name of another node
	GoneNodeAffinity Kind = "gone-node-affinity" // affinity of a node and a block that do not exist
	BadIndex         Kind = "bad-index"          // allocation whose index is beyond the attributes
	Finished         Kind = "finished"           // pod that has finished and owns nothing: not a fault
)

// Kinds lists all of them.
var Kinds = []Kind{
	Leaked, Unallocated, OrphanHandle, MiscountedHandle, MissingHandle, NoAnnotation,
	StaleEndpoint, SharedAddress, WrongNode, GoneNodeAffinity, BadIndex, Finished,
}

// pods returns how many otherwise healthy pods a fault of this kind needs.
func (k Kind) pods() int {
	switch k {
	case SharedAddress:
		return 2
	case Unallocated, MiscountedHandle, MissingHandle, NoAnnotation, WrongNode:
		return 1
	case Leaked, OrphanHandle, StaleEndpoint, GoneNodeAffinity, BadIndex, Finished:
	}
	return 0
}

// addresses returns how many addresses a fault of this kind needs, in addition to those
// of the healthy pods.
func (k Kind) addresses() int {
	if k == Leaked || k == StaleEndpoint || k == Finished {
		return 1
	}
	return 0
}

// Faults counts the faults of each kind.
type Faults map[Kind]int

// ErrFault means that a list of faults cannot be parsed or injected.
var ErrFault = errors.New("faults")

// ParseFaults reads leaked=20,unallocated=10.
func ParseFaults(text string) (Faults, error) {
	f := Faults{}
	if text == "" {
		return f, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, count, _ := strings.Cut(part, "=")
		kind := Kind(name)
		if !slices.Contains(Kinds, kind) {
			return nil, fmt.Errorf("%w: %q is not one of %v", ErrFault, name, Kinds)
		}
		n, err := strconv.ParseUint(count, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%w: %q: want KIND=COUNT", ErrFault, part)
		}
		f[kind] += int(n)
	}
	return f, nil
}

func (f Faults) String() string {
	var parts []string
	for _, k := range Kinds {
		if f[k] > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", k, f[k]))
		}
	}
	return strings.Join(parts, ",")
}

// Fault is an injected fault. Fields that do not apply are empty.
type Fault struct {
	Kind    Kind   `json:"fault"`
	Subject string `json:"subject"`         // address, handle or block with the fault
	Pod     string `json:"pod,omitempty"`   // NAMESPACE/NAME
	Other   string `json:"other,omitempty"` // the second pod of a duplicate address; the wrong node name
	Node    string `json:"node,omitempty"`  // its node
	Handle  string `json:"handle,omitempty"`
	Block   string `json:"block,omitempty"`
}

// WriteFaults writes one line of JSON for each.
func WriteFaults(w io.Writer, faults []Fault) error {
	e := json.NewEncoder(w)
	for _, f := range faults {
		if err := e.Encode(f); err != nil {
			return fmt.Errorf("write fault %s of %s: %w", f.Kind, f.Subject, err)
		}
	}
	return nil
}
