package model

import (
	"slices"
	"time"
)

// NodeBody is what a store returns for a node.
type NodeBody struct {
	Ready   bool     `json:"ready"`
	Silent  bool     `json:"silent,omitempty"` // the kubelet has stopped reporting: Ready is Unknown
	Changed Time     `json:"changed,omitzero"` // when the Ready condition last changed
	BootID  string   `json:"bootID"`
	Taints  []string `json:"taints,omitempty"` // KEY:EFFECT
}

// OutOfServiceTaint is the taint that a person puts on a node that is down permanently.
const OutOfServiceTaint = "node.kubernetes.io/out-of-service"

// downFor is the minimum duration for which a kubelet must be silent until the taint excuses
// the silence of the node's agent.
const downFor = 5 * time.Minute

// outOfService are the taints that Kubernetes honours; with any other effect it ignores them.
var outOfService = []string{OutOfServiceTaint + ":NoExecute", OutOfServiceTaint + ":NoSchedule"}

// OutOfService reports whether a person has declared the node down permanently, and its
// kubelet has been silent for minutes. A node that is Ready, or whose kubelet reports that it
// is not, runs.
func (b *NodeBody) OutOfService(now Time) bool {
	return !b.Ready && b.Silent && !b.Changed.IsZero() && now.Sub(b.Changed) >= downFor &&
		slices.ContainsFunc(b.Taints, func(t string) bool { return slices.Contains(outOfService, t) })
}

// Body returns the node as a store returns it.
func (n *Node) Body() NodeBody {
	return NodeBody{Ready: n.Ready, Silent: n.Silent, Changed: n.Changed, BootID: n.BootID, Taints: n.Taints}
}
