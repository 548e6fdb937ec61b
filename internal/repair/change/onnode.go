package change

import (
	"fmt"
	"reflect"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// An OnNode is done by the agent on a node, which verifies and changes atomically.
type OnNode struct {
	single
	Verb   string            `json:"verb"`             // see agent/server: unlink, unneighbour, unroute, sysctl, abort, remove
	Expect string            `json:"expect,omitempty"` // digest of the object as the agent reports it; empty until then
	Args   map[string]string `json:"args,omitempty"`
}

// Key is the name in the JSON of a step.
func (n *OnNode) Key() string { return "node" }

// Kind is any: the verb decides, and the agent checks it.
func (n *OnNode) Kind() model.Kind { return "" }

// Describe says what the agent does.
func (n *OnNode) Describe() string {
	return map[string]string{
		"unlink": "delete the interface with index " + n.Args["index"], "unroute": "delete the route to interface index " + n.Args["link"],
		"unneighbour": "delete the static neighbour entry " + n.Args["mac"], "sysctl": "set to " + n.Args["value"],
		"abort": "abort the FUSE connection", "remove": "stop and remove the sandbox",
	}[n.Verb]
}

// LeastRisk depends on the verb.
func (n *OnNode) LeastRisk() Risk {
	switch n.Verb {
	case "unlink":
		return Safe
	case "remove":
		return Destructive
	default:
		return Disruptive
	}
}

// Validate returns an error unless the verb is known and has the proof that it needs.
func (n *OnNode) Validate(u Use) error {
	return u.each(func(p *Proof) error {
		if !n.proven(u.On, p) {
			return fmt.Errorf("node change %q does not have the verification that it needs", n.Verb)
		}
		return nil
	})
}

// proven reports whether the change has the proof that it needs. It is false for unknown verbs.
func (n *OnNode) proven(on model.Ref, p *Proof) bool {
	node := on.OnNode()
	switch n.Verb {
	case "unlink":
		return p.NotInUse != nil && (p.NotInUse.All || slices.Contains(p.NotInUse.Nodes, node))
	case "unroute", "unneighbour":
		return p.Running != nil && p.Running.Node == node && p.Running.hasAddressIn(on.Name)
	case "sysctl":
		return p.Running != nil && p.Running.Node == node && n.Args["value"] == "1"
	case "abort":
		return true // the agent refuses a mount that answers, and one of a pod that the plan does not name
	case "remove":
		return p.NotInUse != nil && slices.ContainsFunc(p.NotInUse.Gone, func(g PodIs) bool { return g.UID != "" && g.UID == n.Args["uid"] })
	default:
		return false
	}
}

// Merge is true if both are the same.
func (n *OnNode) Merge(with Change) (Change, bool) {
	more, ok := with.(*OnNode)
	return n, ok && reflect.DeepEqual(n, more)
}

// Undo refuses.
func (n *OnNode) Undo(w Write, u Undoer) {
	u.Refuse(w.Finding, w.On.Name+": a change on a node cannot be undone")
}
