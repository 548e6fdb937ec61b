package timeline

import (
	"bytes"
	"cmp"
	"slices"
)

// index orders a log's events by pod. It is built at the first query: an event may be
// attributed to its pod by a line that was read after it.
type index struct {
	subjects []subject   // by number, completed from all events (resolve)
	pods     []podEvents // by name
	byPod    map[uint32]int
	order    []uint32            // numbers of events, those of one pod together, in order of Add
	context  map[uint32][]uint32 // per node, events that concern the whole node, in order of time
	nodes    map[string]bool     // nodes of which a kubelet's log was read
}

// podEvents is the range [from, to) of index.order that holds one pod's events.
type podEvents struct {
	pod      uint32
	from, to uint32
}

// indexed gives the index, which it builds if Add was called since. l.mu must be held.
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
			kubelets = s.node // most lines are from the same node as the line before
			x.nodes[string(l.texts.get(s.node))] = true
		}
	}
	x.orderByPod(l, count, total)
	for _, list := range x.context {
		slices.SortStableFunc(list, func(a, b uint32) int { return cmp.Compare(l.events.at(int(a)).at, l.events.at(int(b)).at) })
	}
	l.index = x
	return x
}

// orderByPod sorts the pods by name and puts the numbers of their events together; count has
// how many events each pod has, total is their sum.
func (x *index) orderByPod(l *Log, count map[uint32]uint32, total int) {
	for pod := range count {
		x.pods = append(x.pods, podEvents{pod: pod})
	}
	slices.SortFunc(x.pods, func(a, b podEvents) int { return bytes.Compare(l.texts.get(a.pod), l.texts.get(b.pod)) })
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
}

// concernsNode reports whether a kind of event concerns a whole node.
func concernsNode(k Kind) bool {
	switch k {
	case KubeletStarted, RuntimeStarted, RuntimeTimeout, MountTimeout, NodeNotReady, NodeReady, NodeNamed, RouteAdded, RouteRemoved:
		return true
	default:
		return false
	}
}
