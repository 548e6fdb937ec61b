package repair

import (
	"encoding/json"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// A Step changes one object, by one compare-and-swap. What it relies on is compared with
// the object as it is then; the revision is that of the execution, not of the plan.
type Step struct {
	ID  int       `json:"id"`
	Do  string    `json:"do"` // for people: release, record, create …
	On  model.Ref `json:"on"`
	For []string  `json:"for"` // the findings that it serves
	// Always means that it is right to do whatever became of the findings: it only makes
	// a record say what is.
	Always bool `json:"always,omitempty"`

	Change
}

// A Change is what a step does: exactly one field is set.
type Change struct {
	Ordinals []Ordinal  `json:"ordinals,omitempty"` // of a block
	Mend     *Mend      `json:"mend,omitempty"`     // a block's structure
	NewBlock *NewBlock  `json:"newBlock,omitempty"`
	Count    *Count     `json:"count,omitempty"`    // of a handle
	Affinity *Affinity  `json:"affinity,omitempty"` // of a node for a block
	Endpoint *Endpoint  `json:"endpoint,omitempty"` // of a pod, in etcd
	Annotate *Annotate  `json:"annotate,omitempty"` // a pod
	Evict    *Evict     `json:"evict,omitempty"`    // a pod
	Node     *OnNode    `json:"node,omitempty"`     // something of a node's kernel or runtime
	Await    *Await     `json:"await,omitempty"`    // what others do about it: no write of ours
	Restart  *RestartOf `json:"restart,omitempty"`  // a pod of Calico's own
}

// A Held is who holds an ordinal.
type Held struct {
	model.Attribute
	Sequence uint64 `json:"sequence,omitempty,string"` // 0 means any
}

// An Ordinal is one address of a block: what must be there, and what is written.
type Ordinal struct {
	For  string     `json:"for"`
	IP   netip.Addr `json:"ip"`
	From *Held      `json:"from,omitempty"` // nil means free
	To   *Owner     `json:"to,omitempty"`   // nil means free
}

// Frees tells that the step gives addresses back, and does nothing else.
func (s *Step) Frees() bool {
	return len(s.Ordinals) > 0 && !slices.ContainsFunc(s.Ordinals, func(o Ordinal) bool { return o.To != nil })
}

// An Owner is what an attribute of a block shall say. The time at which an address was
// given is kept where one was.
type Owner struct {
	Handle    string            `json:"handle"`
	Secondary map[string]string `json:"secondary,omitempty"`
}

// A Mend makes a block's structure right: what it holds stays held, what its list of free
// ordinals lacks is added at the end, and an ordinal without a readable owner gets the one
// that was found, or one that says that nobody knows.
type Mend struct {
	Owners []Ordinal `json:"owners,omitempty"` // From is not used
}

// A NewBlock makes a block that is gone although pods live in it. It is born holdOrdinals what
// they have: what was free in it for a moment would be given away.
type NewBlock struct {
	Node   string    `json:"node"`
	Strict bool      `json:"strict,omitempty"`
	Born   []Ordinal `json:"born,omitempty"` // From is not used
}

// A Count makes a handle say what the blocks hold. It is written absolutely: the blocks
// are read after the handle.
type Count struct {
	Handle string         `json:"handle"`           // as its owner spells it
	Blocks []netip.Prefix `json:"blocks,omitempty"` // to look into, besides those that it names
	Raise  []Raise        `json:"raise,omitempty"`  // what will be held: counted before the block says so, as Calico does it
	// Unchanged is the revision that the handle must still have to be lowered or removed: an
	// ADD counts before it allocates.
	Unchanged string `json:"unchanged,omitempty"`
}

// A Raise is a number of addresses that a block will hold for a handle.
type Raise struct {
	Block netip.Prefix `json:"block"`
	IPs   []netip.Addr `json:"ips"`
}

// An Affinity says what shall become of a node's affinity for a block.
type Affinity struct {
	Node  string            `json:"node"`
	CIDR  netip.Prefix      `json:"cidr"`
	Want  string            `json:"want"`           // gone, pending, confirmed, labelled
	From  string            `json:"from,omitempty"` // the state that it must be in; empty: not there
	UID   string            `json:"uid,omitempty"`
	Label map[string]string `json:"label,omitempty"` // by which IPAM finds it
}

// An Endpoint says what shall become of a pod's endpoint.
type Endpoint struct {
	Want      json.RawMessage `json:"want,omitempty"`      // the whole object; nil: gone
	Container string          `json:"container,omitempty"` // the sandbox that it must be of, if it is there
	// Instead is another endpoint that must be of the same sandbox before this one goes: the
	// pod lives, and a node was called by another's name when this one was written.
	Instead model.Ref `json:"instead,omitzero"`
}

// An Annotate writes Calico's three annotations of a pod.
type Annotate struct {
	UID       string         `json:"uid"`
	IPs       []netip.Prefix `json:"ips"`
	Container string         `json:"container"`
	From      string         `json:"from,omitempty"`  // the container that is annotated now
	Empty     bool           `json:"empty,omitempty"` // the addresses, as a DEL does it: the sandbox that we wrote has died
}

// An Evict asks Kubernetes to end a pod, within its disruption budgets.
type Evict struct {
	UID string `json:"uid"`
	// Keeps are the addresses that must already be recorded for others, all that it shares:
	// who evicts first and records then frees them under the ones that stay.
	Keeps []Keep `json:"keeps"`
	// Has is the pod as it shares them. One that does not any more is left alone.
	Has RunningPod `json:"has"`
}

// A Keep is an address, and the handle of the one that keeps it.
type Keep struct {
	IP     netip.Addr   `json:"ip"`
	Block  netip.Prefix `json:"block"`
	Handle string       `json:"handle"`
}

// A RestartOf deletes a pod of Calico's own, so that it reads everything again.
type RestartOf struct {
	UID string `json:"uid"`
}

// An OnNode is done by the agent of a node, which compares again in the same breath.
type OnNode struct {
	Verb   string            `json:"verb"`             // see agent/server: unlink, unneighbour, unroute, sysctl, abort, remove
	Expect string            `json:"expect,omitempty"` // digest of what the agent said of it; empty until it has been asked
	Args   map[string]string `json:"args,omitempty"`
}

// An Await waits until something is so without our doing.
type Await struct {
	Node    string     `json:"node"`
	IP      netip.Addr `json:"ip"`
	Device  string     `json:"device"`
	Seconds int        `json:"seconds"`
}

// Serves tells whether the step is for that finding.
func (s *Step) Serves(key string) bool { return slices.Contains(s.For, key) }
