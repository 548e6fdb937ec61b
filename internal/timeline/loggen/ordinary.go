package loggen

import "time"

// ordinary replays pods without an incident: names return, on the same node or on another, addresses
// are assigned again, kubelets restart and stop old sandboxes again, for which current Calico does
// not delete what belongs to others.
func (h *History) ordinary() {
	for i := range h.Pods {
		n := h.node(i%4 == 3, false)
		if n == nil {
			continue
		}
		at := h.seconds(0, h.Lasts.Seconds()/2)
		switch {
		case n.Old:
			h.oldSandboxes(n, at)
		case h.IntN(4) == 0:
			l := h.life(h.pod(), n, at, at+time.Minute)
			h.play(h.any("life"), n, at, l.values)
		default:
			h.sandboxes(n, at)
		}
	}
}

// sandboxes gives a name several sandboxes, with current components.
func (h *History) sandboxes(n *Node, at time.Duration) {
	name := h.pod()
	var old []life
	for range 1 + h.IntN(4) {
		if h.IntN(4) == 0 {
			if other := h.node(false, false); other != nil {
				n = other
			}
		}
		add, del := h.any("add"), h.any("del")
		lasts := time.Duration(add.span) + h.seconds(12, 100)
		end := at + lasts + time.Duration(del.span)
		if end+time.Minute > h.Lasts {
			return
		}
		l := h.life(name, n, at, end)
		h.play(add, n, at, l.values)
		if len(old) > 0 {
			h.collect(old, l, at+time.Duration(add.span)+h.seconds(1, 5))
		}
		h.play(del, n, at+lasts, l.values)
		old = append(old, l)
		at = end + h.seconds(0.5, 20)
		if h.IntN(3) == 0 {
			o := old[h.IntN(len(old))]
			again := h.any("again")
			h.play(again, o.node, at, o.values)
			at += time.Duration(again.span) + h.seconds(1, 3)
		}
	}
}

// collect lets kubelets stop old sandboxes again whose name belongs to another sandbox now.
func (h *History) collect(old []life, owner life, at time.Duration) {
	o := old[h.IntN(len(old))]
	if o.node != owner.node {
		return
	}
	if h.IntN(2) == 0 {
		h.play(h.any("kubelet-start"), o.node, at, nil)
		at += h.seconds(1, 3)
	}
	h.play(h.any("kept"), o.node, at, o.with(values{
		"sandbox2": owner.values["sandbox"], "uid2": owner.values["uid"], "address": owner.values["address"],
	}))
}

// oldSandboxes gives a name several sandboxes, with components of 2017.
func (h *History) oldSandboxes(n *Node, at time.Duration) {
	name := h.pod()
	for range 1 + h.IntN(4) {
		end := at + h.seconds(5, 120)
		if end+time.Minute > h.Lasts {
			return
		}
		l := h.life(name, n, at, end)
		h.play(h.named("2017-add-first"), n, at, l.values)
		if h.IntN(5) == 0 { // it fails once, which is no retried DEL
			h.play(h.named("2017-fail-first"), n, end, l.values)
			end += h.seconds(5, 20)
		}
		h.play(h.named("2017-del-first"), n, end, l.values)
		at = end + h.seconds(2, 30)
	}
}

// named gives a template by its name.
func (h *History) named(name string) *template {
	for _, of := range h.templates {
		for _, t := range of {
			if t.Name == name {
				return t
			}
		}
	}
	panic("no template " + name) // they are part of the package
}
