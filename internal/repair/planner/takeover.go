package planner

import (
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// fromOtherPod allows a running pod to take over an allocation that names another pod. The
// caller has checked that the other pod does not have the address. It refuses where the
// other pod may be about to use it.
func (b *builder) fromOtherPod(t *runningPod, spared ...*model.Pod) takeover {
	return func(at *model.Attribute) *repair.Refusal {
		ns, name := at.PodName()
		other := b.view.PodByName(ns, name)
		switch {
		case other == nil || other == t.pod || slices.Contains(spared, other) || !other.Networked():
			return nil
		case len(other.IPs) == 0:
			return refuse("plan again when it has one", "%s/%s, which IPAM names, has no address yet", ns, name)
		case !b.canVerify(other.Node):
			return refuse("make the agent on "+other.Node+" answer", "live verification by the agent on %s is not possible; it runs %s/%s, which IPAM names", other.Node, ns, name)
		default:
			return nil
		}
	}
}
