package loggen

import (
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// scenes are the incidents. Each chooses its nodes and adds the verdicts that must be found.
var scenes = []func(*History){
	(*History).late, (*History).legacy, (*History).stuck, (*History).cascade, (*History).stale, (*History).addWithoutDel, (*History).delNeverCame,
	(*History).oldLate, (*History).oldLate, (*History).oldRetried, (*History).oldMoved, (*History).oldBlocked, (*History).oldBusy,
}

// incidents replays as many incidents as planned, each kind in turn.
func (h *History) incidents() {
	h.signal = true
	turn := int(h.Seed)
	for i := range h.Incidents {
		scenes[(turn*h.Incidents+i)%len(scenes)](h)
	}
	h.signal = false
}

// at gives a time that leaves enough time for what follows.
func (h *History) at() time.Duration { return h.seconds(60, h.Lasts.Seconds()/2) }

// late replays a stop of an old sandbox that removed the network of the new one, as the CNI plugin
// of 2017 did; sometimes the DEL of the new one then fails repeatedly.
func (h *History) late() {
	n := h.node(false, false)
	if n == nil {
		return
	}
	of := []string{"etcd", "kdd"}[h.IntN(2)]
	oldT, newT, del, fail, again := h.named("late-old-"+of), h.named("late-new-"+of), h.named("late-del-"+of), h.named("late-fail-"+of), h.named("fail-again-"+of)
	at, name := h.at(), h.pod()
	a, b := h.life(name, n, at, at+10*time.Minute), h.life(name, n, at, at+20*time.Minute)
	v := a.second(b)
	h.play(oldT, n, at, v)
	at += time.Duration(oldT.span) + h.seconds(1, 60)
	h.play(newT, n, at, v)
	at += time.Duration(newT.span) + h.seconds(0.5, 90)
	h.play(del, n, at, v)
	h.must("late", timeline.LateDel, name, n, a.values["sandbox"], b.values["sandbox"])
	at += time.Duration(del.span) + h.seconds(5, 60)
	h.play(fail, n, at, v)
	at += time.Duration(fail.span)
	if h.IntN(2) == 0 {
		return
	}
	for range 5 + h.IntN(5) {
		at += h.seconds(15, 25)
		h.play(again, n, at, v)
	}
	h.must("late", timeline.RetriedDel, name, n, b.values["sandbox"], "")
}

// legacy replays a release by pod name in the DEL of an old sandbox (current Calico still does this
// for handles of the old form).
func (h *History) legacy() {
	n := h.node(false, false)
	if n == nil {
		return
	}
	at, name := h.at(), h.pod()
	lives, release := h.any("legacy-lives"), h.any("legacy-release")
	a, b, c := h.life(name, n, at, at+20*time.Minute), h.life(name, n, at, at+20*time.Minute), h.life(name, n, at, at+20*time.Minute)
	v := a.second(b).with(values{"sandbox3": c.values["sandbox"], "address3": c.values["address"]})
	h.play(lives, n, at, v)
	at += time.Duration(lives.span) + h.seconds(5, 120)
	h.play(release, n, at, v)
	h.must("legacy", timeline.LateDel, name, n, a.values["sandbox"], c.values["sandbox"])
}

// stuck replays a pod whose container cannot be killed.
func (h *History) stuck() {
	n := h.node(false, false)
	if n == nil {
		return
	}
	at, name := h.at(), h.pod()
	add, stuck := h.any("add"), h.any("stuck")
	l := h.life(name, n, at, h.Lasts)
	h.play(add, n, at, l.values)
	h.play(stuck, n, at+time.Duration(add.span)+h.seconds(10, 200), l.values)
	h.must("stuck", timeline.TeardownBlocked, name, n, "", "")
}

// cascade replays a kubelet that restarts repeatedly, and a pod that it should stop.
func (h *History) cascade() {
	n := h.node(false, true)
	if n == nil {
		return
	}
	at, name := h.at(), h.pod()
	h.play(h.any("cascade"), n, at, name)
	start := h.named("kubelet-start-cascade-etcd")
	for from := at; from < at+80*time.Second; from += h.seconds(4, 9) {
		h.play(start, n, from, nil)
	}
	h.must("cascade", timeline.TeardownBlocked, name, n, "", "")
}

// stale replays a node whose CNI uses the name of another node: the IPAM garbage collector releases
// the address of its pod, and another pod is assigned it.
func (h *History) stale() {
	n := h.node(false, true)
	other := h.node(false, false)
	if n == nil || other == nil {
		return
	}
	of := []string{"etcd", "kdd"}[h.IntN(2)]
	first, next := h.named("stale-"+of), h.named("stale-next-"+of)
	at, name, nextName := h.at(), h.pod(), h.pod()
	l := h.life(name, n, at, h.Lasts)
	l.values["other"] = other.Name
	b := h.life(nextName, other, at, h.Lasts)
	l.values["address"] = b.values["address"]
	lines := h.play(first, n, at, l.values)
	freed := h.that(lines, "Successfully garbage collected")
	h.play(next, other, at+time.Duration(first.span)+h.seconds(5, 60), b.values)
	h.must("stale", timeline.StaleNodename, name, n, "", "")
	h.must("stale", timeline.ReleasedInUse, name, n, "", l.values["sandbox"], freed)
	h.must("stale", timeline.AddressMoved, name, n, b.values["sandbox"], l.values["sandbox"], freed)
}
