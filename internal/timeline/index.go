package timeline

import (
	"bytes"
	"cmp"
	"slices"
)

// index orders a log's events by pod. It is made when the log is first asked, for only
// then is it known whose every event is.
type index struct {
	subjects []subject // as all events together know them
	pods     []tale    // by name
	byPod    map[uint32]int
	order    []uint32            // numbers of events, pod by pod
	context  map[uint32][]uint32 // per node, what concerns all of it, in order of time
	nodes    map[string]bool     // whose kubelet tells
}

// A tale is where one pod's events stand in the order.
type tale struct {
	pod      uint32
	from, to uint32
}

// indexed is called with the lock held.
func (l *Log) indexed() *index {
	if l.index != nil {
		return l.index
	}
	x := &index{subjects: l.resolve(), byPod: map[uint32]int{}, context: map[uint32][]uint32{}, nodes: map[string]bool{}}
	count := map[uint32]uint32{}
	total, kubelets := 0, uint32(0)
	for n := l.events.first; n < l.events.end; n++ {
		p := l.events.at(n)
		s := &x.subjects[p.subject]
		switch {
		case s.pod != 0:
			count[s.pod]++
			total++
		case concernsNode(p.kind) && s.sandbox == 0 && s.container == 0 && s.uid == 0:
			x.context[s.node] = append(x.context[s.node], uint32(n))
		}
		if s.node != 0 && s.node != kubelets && l.sources[p.source] == "kubelet" {
			kubelets = s.node // most lines are of the node of the line before
			x.nodes[string(l.texts.get(s.node))] = true
		}
	}
	for pod := range count {
		x.pods = append(x.pods, tale{pod: pod})
	}
	slices.SortFunc(x.pods, func(a, b tale) int { return bytes.Compare(l.texts.get(a.pod), l.texts.get(b.pod)) })
	at := uint32(0)
	for i := range x.pods {
		p := &x.pods[i]
		x.byPod[p.pod] = i
		p.from, p.to = at, at
		at += count[p.pod]
	}
	x.order = make([]uint32, total)
	for n := l.events.first; n < l.events.end; n++ {
		if pod := x.subjects[l.events.at(n).subject].pod; pod != 0 {
			t := &x.pods[x.byPod[pod]]
			x.order[t.to] = uint32(n)
			t.to++
		}
	}
	for _, list := range x.context {
		slices.SortStableFunc(list, func(a, b uint32) int { return cmp.Compare(l.events.at(int(a)).at, l.events.at(int(b)).at) })
	}
	l.index = x
	return x
}

// concernsNode tells what happens to a node as a whole.
func concernsNode(k Kind) bool {
	switch k {
	case KubeletStarted, RuntimeStarted, RuntimeTimeout, MountTimeout, NodeNotReady, NodeReady, NodeNamed:
		return true
	default:
		return false
	}
}
