package audit_test

import (
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// misnames makes what a node's CNI plugin wrote for a new pod say another node.
func (w *world) misnames(node, other string) (*model.Pod, []string) {
	p := w.runningOn(node)
	p.Ready = true
	head := "PL5003/" + node
	var want []string
	for _, ip := range p.IPs {
		b := w.blockWith(ip)
		for i := range b.Attributes {
			if b.Attributes[i].Pod == p.Name {
				b.Attributes[i].Node = other
			}
		}
		want = append(want, "PL1003/"+ip.String()+" under "+head, "PL5002/kube-controllers/"+ip.String()+" under "+head)
	}
	if e := slices.IndexFunc(w.s.Endpoints, func(e model.Endpoint) bool { return e.Pod == p.Name }); e >= 0 {
		w.s.Endpoints[e].Node = other
		name := "PL2002/ns/" + w.s.Endpoints[e].Name
		want = append(want, name, "PL2001/ns/"+p.Name+" under "+name)
	}
	return p, want
}

var nodeFaults = []fault{
	{"node calls itself another", "agents", func(w *world) []string {
		at := w.spot()
		w.shut[at.node] = true
		c := &w.facts(at.node).CNIConfigs[0]
		c.NodeName, c.Since = w.s.Nodes[0].Name, at.since
		want := []string{at.aged() + "PL5003/" + at.node}
		if at.since == old && w.pick("wrote", 2) == 1 {
			_, more := w.misnames(at.node, c.NodeName)
			want = append(want, more...)
		}
		return want
	}},
	{"node calls itself what is none", "agents", func(w *world) []string {
		at := w.spot()
		w.shut[at.node] = true
		w.facts(at.node).CNIConfigs[0].NodeName = "__KUBERNETES_NODE_NAME__"
		w.runningOn(at.node)
		return []string{"?PL5003/" + at.node} // nothing dates a node that is not there
	}},
	{"wrong name in Calico's file", "agents", func(w *world) []string {
		at := w.spot()
		w.shut[at.node] = true
		f := w.facts(at.node)
		f.CNIConfigs[0].NodeName, f.Machines[0].CalicoName = "", w.s.Nodes[0].Name
		w.runningOn(at.node)
		return []string{"?PL5003/" + at.node}
	}},
	{"runtime slow", "agents", func(w *world) []string {
		at := w.spot()
		w.runningOn(at.node)
		r := &w.facts(at.node).Runtimes[2]
		r.Millis, r.Since = 5000, at.since
		return []string{at.aged() + "PL4005/" + at.node + "/runtime"}
	}},
	{"runtime silent", "agents", func(w *world) []string {
		at := w.spot()
		w.runningOn(at.node)
		f := w.facts(at.node)
		for i := range f.Runtimes {
			f.Runtimes[i].Error, f.Runtimes[i].Since = "deadline exceeded", at.since
		}
		w.lose(at.node, model.Sandboxes, model.Containers)
		return []string{at.aged() + "PL4005/" + at.node + "/runtime", "!PL9001/" + at.node}
	}},
	{"silent node", "agents", func(w *world) []string {
		n := w.node().Name
		for range w.pick("pods", 3) {
			w.running()
			w.runningOn(n)
		}
		w.lose(n)
		return []string{"!PL9001/" + n}
	}},
	{"poison", "", func(w *world) []string {
		volume := w.fresh("filer") + ":/poison"
		want := []string{"!PL5001/volume/" + volume}
		for i := range model.Time(2) {
			n := w.node()
			n.Ready, n.Changed = false, now-3000+600*i
			name := n.Name
			p := w.runningOn(name)
			p.Started, p.Created, p.Volumes = n.Changed-300, n.Changed-300, []string{"nfs:" + volume}
			w.shut[name] = true
			if w.agents {
				w.lose(name)
				want = append(want, "!PL9001/"+name)
			}
		}
		return want
	}},
}
