package loggen

import (
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// any gives one of the templates of a kind.
func (h *History) any(kind string) *template {
	of := h.templates[kind]
	return of[h.IntN(len(of))]
}

// seconds gives a random time.
func (h *History) seconds(from, to float64) time.Duration {
	return time.Duration((from + (to-from)*h.Float64()) * float64(time.Second))
}

// node gives a node of one of the eras. A node that an incident reserves is not
// given again.
func (h *History) node(old, alone bool) *Node {
	var free []*Node
	for _, n := range h.Nodes {
		if n.Old == old && !n.busy {
			free = append(free, n)
		}
	}
	if len(free) == 0 {
		return nil
	}
	n := free[h.IntN(len(free))]
	n.busy = alone
	return n
}

// quarantine is how long an address is unused before another pod is assigned it.
const quarantine = 10 * time.Second

// address gives an address of a node's block that is free in that time.
func (h *History) address(n *Node, from, to time.Duration) string {
	base := n.block[:len(n.block)-len("64")]
	for at := h.IntN(60); ; at++ {
		a := fmt.Sprintf("%s%d", base, 65+at%60)
		free := true
		for _, s := range n.taken[a] {
			free = free && (s.to+quarantine < from || to+quarantine < s.from)
		}
		if free || at > 200 {
			n.taken[a] = append(n.taken[a], stay{from, to})
			return a
		}
	}
}

// A life is one sandbox of a pod name.
type life struct {
	values
	node *Node
}

// pod gives the values of a new name.
func (h *History) pod() values {
	namespace, pod := h.set()
	return values{"namespace": namespace, "pod": pod}
}

// life gives a name another sandbox on a node, with an address for some time.
func (h *History) life(name values, n *Node, from, to time.Duration) life {
	return life{name.with(values{
		"uid": h.uuid(), "sandbox": h.hex(64), "container": h.hex(64), "address": h.address(n, from, to),
	}), n}
}

// second gives the values of two sandboxes for templates with both.
func (l life) second(b life) values {
	return l.with(values{"uid2": b.values["uid"], "sandbox2": b.values["sandbox"], "container2": b.values["container"], "address2": b.values["address"]})
}

func (v values) name() string { return v["namespace"] + "/" + v["pod"] }

// must adds a verdict that must be found in a scene's lines.
func (h *History) must(scene string, cause timeline.Cause, name values, n *Node, culprit, victim string, needs ...[]int) {
	h.Truth = append(h.Truth, Truth{Scene: scene, Cause: cause, Pod: name.name(), Node: n.Name, Culprit: culprit, Victim: victim, Needs: needs})
}
