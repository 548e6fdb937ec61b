package planner

import (
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// minSeen is for how many seconds the agent must have seen an interface unchanged before it
// deletes it. The kernel does not report when an interface was created.
const minSeen = 600

// planDevice deletes a host veth that no pod uses. The step identifies it by index: the next
// pod of the same name gets an interface of the same name.
func planDevice(b *builder, f *finding.Finding) *repair.Refusal {
	node := f.Subject.OnNode()
	_, name, _ := strings.Cut(f.Subject.Name, "/")
	l := b.view.LinkNamed(node, name)
	switch {
	case l == nil:
		return &repair.Refusal{Why: "the interface is gone", Advice: "run plumbline check again"}
	case b.view.CNISetupOn(node).Calicos == nil:
		return &repair.Refusal{Why: "the network of " + node + " is not known to be managed by Calico"}
	case l.PeerNS == 0:
		return &repair.Refusal{Why: "its peer interface was not found: it may be in a network namespace that the agent cannot read", Advice: "restart the node at a convenient time"}
	}
	args := map[string]string{"index": strconv.Itoa(l.Index), "seen": strconv.Itoa(minSeen)}
	if s := int(b.o.Settle.Seconds()); s > 0 {
		args["seen"] = strconv.Itoa(s) // the user passed --settle
	}
	for a := range b.view.AttachmentsIn(node, l.PeerNS) {
		if a.Pinned && a.PIDs == 0 {
			args["peerNS"] = strconv.FormatUint(l.PeerNS, 10)
		}
	}
	t := b.target(f, change.Safe, change.Proof{NotInUse: &change.NotInUse{Nodes: []string{node}}})
	t.NoUndo = "a deleted interface cannot be restored"
	b.step(actOnNodes, f, "delete device", f.Subject, &change.OnNode{Verb: "unlink", Args: args})
	return nil
}
