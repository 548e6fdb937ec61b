package change

import (
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// A Taking is an address that a write takes from whoever has it, as the live block says: it
// becomes free, or another container gets it. The executor derives from it what must be
// verified; a plan can only add to that.
type Taking struct {
	For  string     // key of the finding
	IP   netip.Addr // the address
	From model.Attribute
	Node string // to which the block has an affinity, by its Calico name; empty: none
	Free bool   // it becomes free; else the running pod of the finding's proof gets it
}

// Container is the one that has the address; empty: not known.
func (t *Taking) Container() string { return model.ContainerOf(t.From.Handle) }

// An Ending is a sandbox whose endpoint a write deletes. The executor verifies that it is gone.
type Ending struct {
	For       string // key of the finding
	Container string
	Node      string // by its Calico name, as the endpoint says
}

// A Giving is an address that a write records for a pod that the proof of its finding does not
// name. The executor verifies that the pod runs with it.
type Giving struct {
	For            string
	IP             netip.Addr
	Namespace, Pod string
	Container      string
}

// taking tells what a change of an ordinal takes from its holder; false if nothing: it was free,
// or its container keeps it.
func (b *block) taking(o Ordinal, n int) (Taking, bool) {
	held := b.holder(n)
	if held == nil {
		return Taking{}, false
	}
	t := Taking{For: o.For, IP: o.IP, From: held.Row(), Node: b.node(), Free: o.To == nil}
	switch {
	case t.Free:
		return t, true
	case strings.HasPrefix(t.From.Handle, model.HoldPrefix): // ours: it was taken when the hold was written
		return t, false
	case strings.HasPrefix(o.To.Handle, model.HoldPrefix): // for the running pod of the proof
		return t, true
	default:
		return t, t.Container() == "" || t.Container() != model.ContainerOf(o.To.Handle)
	}
}

// node is the one that the block has an affinity to, by its Calico name.
func (b *block) node() string {
	node, _ := strings.CutPrefix(b.Affinity.V, "host:")
	if node == b.Affinity.V {
		return ""
	}
	return node
}
