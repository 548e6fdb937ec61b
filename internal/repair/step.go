package repair

import (
	"encoding/json"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// A Step changes one object by one atomic update. Its conditions are compared with the
// object as read during execution, and the update uses the revision of that read, not of the
// plan.
type Step struct {
	ID  int       `json:"id"` // 1 + index in Plan.Steps
	Do  string    `json:"do"` // verb for the user: release, record, create …
	On  model.Ref `json:"on"`
	For []string  `json:"for"` // keys of the targets that it serves; not empty
	// Always means that the step is done without verification, also if its findings were
	// dropped, as long as something was written for one of them. Invariant: Count is set and
	// only sets a handle to what the blocks hold.
	Always bool `json:"always,omitempty"`

	Change
}

// A Change is what a step does. Invariant: exactly one field is set.
type Change struct {
	Ordinals []Ordinal  `json:"ordinals,omitempty"` // of a block
	Mend     *Mend      `json:"mend,omitempty"`     // structure of a block
	NewBlock *NewBlock  `json:"newBlock,omitempty"`
	Count    *Count     `json:"count,omitempty"`    // of a handle
	Affinity *Affinity  `json:"affinity,omitempty"` // of a node for a block
	Endpoint *Endpoint  `json:"endpoint,omitempty"` // of a pod, in etcd
	Annotate *Annotate  `json:"annotate,omitempty"` // a pod
	Evict    *Evict     `json:"evict,omitempty"`    // a pod
	Node     *OnNode    `json:"node,omitempty"`     // kernel or runtime of a node
	Await    *Await     `json:"await,omitempty"`    // wait for Felix; no write
	Restart  *RestartOf `json:"restart,omitempty"`  // a pod of Calico
}

// A Held is the owner that an ordinal must have before the write.
type Held struct {
	model.Attribute
	Sequence uint64 `json:"sequence,omitempty,string"` // of the allocation; 0 means any
}

// An Ordinal is the change of one address of a block: From is the condition, To is written.
type Ordinal struct {
	For  string     `json:"for"` // key of the target, one of Step.For
	IP   netip.Addr `json:"ip"`
	From *Held      `json:"from,omitempty"` // nil means free
	To   *Owner     `json:"to,omitempty"`   // nil means free
}

// Frees reports that the step only releases addresses.
func (s *Step) Frees() bool {
	return len(s.Ordinals) > 0 && !slices.ContainsFunc(s.Ordinals, func(o Ordinal) bool { return o.To != nil })
}

// An Owner is the attribute to write. If the ordinal was allocated before, its timestamp is
// kept.
type Owner struct {
	Handle    string            `json:"handle"`
	Secondary map[string]string `json:"secondary,omitempty"`
}

// A Mend repairs the structure of a block. Allocated ordinals stay allocated; ordinals
// missing in the free list are appended to it; an allocated ordinal with an invalid attribute
// gets its owner from Owners, else UnknownHandle.
type Mend struct {
	Owners []Ordinal `json:"owners,omitempty"` // From is not used
}

// A NewBlock creates a missing block of running pods. Their addresses (Born) are allocated in
// the same write: if they were free for a moment, Calico could assign them again.
type NewBlock struct {
	Node   string    `json:"node"`
	Strict bool      `json:"strict,omitempty"`
	Born   []Ordinal `json:"ordinals,omitempty"` // From is not used
}

// A Count sets the counts of a handle to what the blocks hold. It writes absolute numbers:
// the blocks are read after the handle.
type Count struct {
	Handle string         `json:"handle"`           // ID as in the blocks; equals Step.On.Name
	Blocks []netip.Prefix `json:"blocks,omitempty"` // blocks to count in, besides those that the handle names
	Raise  []Raise        `json:"raise,omitempty"`  // addresses that later steps allocate: counted before, as in Calico
	// Unchanged is the revision that the handle must have if it is lowered or removed: an ADD
	// counts in the handle before it allocates in the block. Empty: only a step with Always
	// may lower it.
	Unchanged string `json:"unchanged,omitempty"`
}

// A Raise is the addresses of a block that a later step allocates to a handle.
type Raise struct {
	Block netip.Prefix `json:"block"`
	IPs   []netip.Addr `json:"ips"`
}

// An Affinity changes the affinity of a node for a block.
type Affinity struct {
	Node  string            `json:"node"`
	CIDR  netip.Prefix      `json:"cidr"`
	Want  string            `json:"want"`           // gone, pending, confirmed, labelled
	From  string            `json:"from,omitempty"` // the state that it must have; empty: absent
	UID   string            `json:"uid,omitempty"`
	Label map[string]string `json:"label,omitempty"` // by which IPAM selects it
}

// An Endpoint creates, changes or deletes a WorkloadEndpoint.
type Endpoint struct {
	Want      json.RawMessage `json:"want,omitempty"`      // the whole object; nil: delete
	Container string          `json:"container,omitempty"` // the sandbox that an existing endpoint must name
	// Instead is another endpoint that must name the same sandbox before this one is deleted:
	// the pod is running, and this one was written while its node used another node's name.
	Instead model.Ref `json:"instead,omitzero"`
}

// An Annotate sets Calico's three annotations of a pod.
type Annotate struct {
	UID       string         `json:"uid"`
	IPs       []netip.Prefix `json:"ips"`
	Container string         `json:"container"`
	From      string         `json:"from,omitempty"`  // the container that the annotation must name now
	Empty     bool           `json:"empty,omitempty"` // clear the addresses, as a DEL does: the sandbox that the plan wrote is gone
}

// An Evict evicts a pod, within its PodDisruptionBudgets.
type Evict struct {
	UID string `json:"uid"`
	// Keeps are all duplicate addresses of the pod. IPAM must already have them for the pods
	// that keep them: the DEL of the evicted pod would else release them.
	Keeps []Keep `json:"keeps"`
	// Has is the pod with its duplicate addresses. It is evicted only if this is still verified.
	Has RunningPod `json:"has"`
}

// A Keep is an address and the handle that must have it.
type Keep struct {
	IP     netip.Addr   `json:"ip"`
	Block  netip.Prefix `json:"block"`
	Handle string       `json:"handle"`
}

// A RestartOf deletes a pod of Calico; its controller creates it again, and it rereads everything.
type RestartOf struct {
	UID string `json:"uid"`
}

// An OnNode is done by the agent on a node, which verifies and changes atomically.
type OnNode struct {
	Verb   string            `json:"verb"`             // see agent/server: unlink, unneighbour, unroute, sysctl, abort, remove
	Expect string            `json:"expect,omitempty"` // digest of the object as the agent reports it; empty until then
	Args   map[string]string `json:"args,omitempty"`
}

// An Await waits until the node routes IP to Device, at most Seconds. It writes nothing.
type Await struct {
	Node    string     `json:"node"`
	IP      netip.Addr `json:"ip"`
	Device  string     `json:"device"`
	Seconds int        `json:"seconds"`
}

// Serves reports whether the step is for that finding.
func (s *Step) Serves(key string) bool { return slices.Contains(s.For, key) }
