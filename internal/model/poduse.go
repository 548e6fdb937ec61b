package model

import "iter"

// poduse indexes pods by UID, node, volumes and images. It is built on first use: a healthy
// cluster without agents never needs it.
type poduse struct {
	built  bool
	uid    index[string]
	node   index[string]
	things index[string] // volumes and images
}

func (v *View) uses() *poduse {
	u := &v.poduse
	if u.built {
		return u
	}
	u.built = true
	n := len(v.s.Pods)
	u.uid, u.things = newIndex[string](n), newIndex[string](n)
	u.node = newLean(n, func(i int32) string { return v.s.Pods[i].Node })
	for i := n - 1; i >= 0; i-- {
		p := &v.s.Pods[i]
		u.uid.add(p.UID, i)
		if p.Static != "" {
			u.uid.add(p.Static, i)
		}
		u.node.add(p.Node, i)
		for _, t := range p.Volumes {
			u.things.add(t, i)
		}
		for _, t := range p.Images {
			u.things.add(t, i)
		}
	}
	return u
}

// PodByUID finds a pod by the UID in its sandbox: its own, or for a mirror pod that of its
// static pod.
func (v *View) PodByUID(uid string) *Pod { return find(v, Pods, v.s.Pods, &v.uses().uid, uid) }

// PodsOn returns the pods that are bound to a node.
func (v *View) PodsOn(node string) iter.Seq[*Pod] {
	return each(v, Pods, v.s.Pods, v.uses().node.rows(node))
}

// PodsUsing returns the pods that use a volume or an image.
func (v *View) PodsUsing(what string) iter.Seq[*Pod] {
	return each(v, Pods, v.s.Pods, v.uses().things.rows(what))
}
