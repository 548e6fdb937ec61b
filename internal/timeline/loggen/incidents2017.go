package loggen

import (
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// token is the beginning of the line in which a CNI plugin of 2017 logged its credential.
const token = "K8S_API_TOKEN="

// oldLate replays the incident of 2017: the DEL of a sandbox fails because its endpoint does not
// exist, until there is one again, which belongs to the next pod.
func (h *History) oldLate() {
	n := h.node(true, false)
	if n == nil {
		return
	}
	of := []string{"first", "second"}[h.IntN(2)]
	add, del, fail := h.named("2017-add-"+of), h.named("2017-del-"+of), h.named("2017-fail-"+of)
	at, name := h.at(), h.pod()
	a, b := h.life(name, n, at, h.Lasts), h.life(name, n, at, h.Lasts)
	first := h.play(add, n, at, a.values)
	at += h.seconds(20, 120)
	var failed []int
	for range 2 + h.IntN(6) {
		failed = append(failed, h.play(fail, n, at, a.values)...)
		at += h.seconds(8, 40)
	}
	second := h.play(add, n, at, b.values)
	late := h.play(del, n, at+h.seconds(5, 60), a.values)
	own := func(lines []int) []int { return h.that(lines, "CNI_COMMAND=") }
	gave := []string{"Auto-assigned", "assigned addresses", "Wrote updated endpoint", "using IPs", "IPAM Result"}
	took := h.that(late, "Delete empty Key", "Deleting handle", "Decremented handle", "Delete Key: /calico/ipam")
	x, y := a.values["sandbox"], b.values["sandbox"]
	h.must("2017", timeline.LateDel, name, n, x, y, own(second), h.that(second, gave...), own(late), took)
	h.must("2017", timeline.RetriedDel, name, n, x, "", h.that(failed, "StopPodSandbox", "Error deleting network", "error killing pod"))
	h.must("2017", timeline.AddressMoved, name, n, x, y, own(first), own(second), h.that(first, gave...), h.that(second, gave...))
	h.leaks(name, n, first, second, late)
}

// leaks expects a verdict about a credential, if the pod's lines contain one.
func (h *History) leaks(name values, n *Node, plays ...[]int) {
	var lines []int
	for _, p := range plays {
		lines = append(lines, h.that(p, token)...)
	}
	if len(lines) > 0 {
		h.must("2017", timeline.Credential, name, n, "", "", lines)
	}
}

// oldRetried plays a DEL of 2017 that fails repeatedly and never succeeds.
func (h *History) oldRetried() {
	n := h.node(true, false)
	if n == nil {
		return
	}
	of := []string{"first", "second"}[h.IntN(2)]
	add, fail := h.named("2017-add-"+of), h.named("2017-fail-"+of)
	at, name := h.at(), h.pod()
	l := h.life(name, n, at, h.Lasts)
	first := h.play(add, n, at, l.values)
	at += h.seconds(20, 120)
	var failed []int
	for range 4 + h.IntN(8) {
		failed = append(failed, h.play(fail, n, at, l.values)...)
		at += h.seconds(25, 45)
	}
	h.must("2017", timeline.RetriedDel, name, n, l.values["sandbox"], "", h.that(failed, "StopPodSandbox", "Error deleting network", "error killing pod"))
	h.leaks(name, n, first)
}

// oldMoved replays a pod of 2017 whose address changed.
func (h *History) oldMoved() {
	n := h.node(true, false)
	if n == nil {
		return
	}
	at, name := h.at(), h.pod()
	a, b := h.life(name, n, at, h.Lasts), h.life(name, n, at, h.Lasts)
	lines := h.play(h.any("2017-moved"), n, at, a.second(b))
	h.must("2017", timeline.AddressMoved, name, n, "", "", h.that(lines, "192.168.247.220"), h.that(lines, "192.168.247.231"))
}

// oldBlocked replays a pod of 2019 that cannot be stopped.
func (h *History) oldBlocked() {
	n := h.node(true, false)
	if n == nil {
		return
	}
	at, name := h.at(), h.pod()
	l := h.life(name, n, at, h.Lasts)
	lines := h.play(h.any("2019-blocked"), n, at, l.values)
	h.must("2019", timeline.TeardownBlocked, name, n, "", "", h.that(lines, "Error syncing pod")) // the only one with the pod's name
}

// oldBusy replays a container of 2017 that cannot be removed and whose pod no line names.
func (h *History) oldBusy() {
	n := h.node(true, false)
	if n == nil {
		return
	}
	at, id := h.at(), h.hex(64)
	var lines []int
	for range 2 + h.IntN(4) {
		lines = append(lines, h.play(h.any("2017-busy"), n, at, values{"container": id})...)
		at += time.Duration(h.IntN(60)) * time.Second
	}
	h.Truth = append(h.Truth, Truth{Scene: "2017", Cause: timeline.TeardownBlocked, Node: n.Name, Culprit: id, Needs: [][]int{lines}})
}
