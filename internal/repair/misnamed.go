package repair

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// planMisnamed makes an allocation name the pod that uses the address. It takes two writes:
// Calico's collector knows an allocation by handle and address and never reads it again, so
// a corrected attribute alone leaves it to free the address minutes later (F2). Under a name
// of ours it forgets the old one; under the real name it learns the new one. The ordinal is
// never free, and the node stays set, for remote nodes route borrowed addresses by it.
func planMisnamed(b *builder, f *finding.Finding) {
	ip, err := netip.ParseAddr(f.Subject.Name)
	if err != nil || b.view.AllocationOf(ip) == nil {
		b.refuse(f, "it is not held any more", "look again")
		return
	}
	pod, no := b.userOf(ip)
	var t *runningPod
	if no == nil {
		t, no = b.runningPodOf(pod)
	}
	var p *assignment
	if no == nil {
		p, no = b.assignment(t, ip, b.fromOtherPod(t))
	}
	switch {
	case no != nil:
		b.refuse(f, no.why, no.advice)
		return
	case p == nil || p.right || p.from == nil:
		b.refuse(f, "the ledger names the right one by now", "look again")
		return
	}
	p.hold = true
	// Only the node in an attribute moves traffic: with it unchanged nobody notices.
	target := b.target(f, b.routed(t, p), t.proof())
	target.Watch = b.watchSeconds()
	if target.Risk != Safe {
		target.Touches = append(target.Touches, t.name()+": nodes that sent to "+orText(p.from.Node, "the node of its block")+" will send to "+t.pod.Node)
	}
	for _, name := range b.calicoNamesOf(t.pod.Node) {
		if name != "" && !b.view.SameNode(name, t.pod.Node) {
			target.Warnings = append(target.Warnings, "the cause stays: "+t.pod.Node+" still calls itself "+name+" (PL5003), and its next pod will be misnamed too")
			break
		}
	}
	b.record(f, t, p)
}

// fromOtherPod lets a tenant take what the ledger says is another pod's, which does not
// have the address, as was seen before. It objects where that one may be about to use it.
func (b *builder) fromOtherPod(t *runningPod, spared ...*model.Pod) takeover {
	return func(at *model.Attribute) *refusal {
		ns, name := at.PodName()
		other := b.view.PodByName(ns, name)
		switch {
		case other == nil || other == t.pod || slices.Contains(spared, other) || !other.Networked():
			return nil
		case len(other.IPs) == 0:
			return refuse("plan again when it has one", "%s/%s, which the ledger names, has no address yet", ns, name)
		case !b.canVerify(other.Node):
			return refuse("get its agent to answer", "%s, where %s/%s lives, which the ledger names, cannot be asked", other.Node, ns, name)
		default:
			return nil
		}
	}
}
