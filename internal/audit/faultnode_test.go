package audit_test

import (
	"net/netip"
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
			want = append(want, "PL4009/"+name+" under "+want[0][1:])
			if w.agents {
				w.lose(name)
				want = append(want, "PL9001/"+name+" under "+want[0][1:])
			}
		}
		return want
	}},
	{"restored", "agents", func(w *world) []string {
		for _, f := range w.s.NodeState {
			for i := range f.Machines {
				f.Machines[i].Restored = model.Restored{Store: model.StoreKubernetes, From: 2000, To: 1000, Since: now - 60}
			}
		}
		return []string{"!PL9006/kubernetes"}
	}},
	{"node not ready", "", func(w *world) []string {
		n := w.node()
		n.Ready, n.Silent, n.Changed = false, true, old
		w.shut[n.Name] = true
		want := []string{"!PL4009/" + n.Name}
		if name := n.Name; w.agents {
			w.lose(name)
			want = append(want, "PL9001/"+name+" under PL4009/"+name)
		}
		return want
	}},
	{"node has another address", "agents", func(w *world) []string {
		n := w.node()
		n.CalicoIPs = []netip.Addr{netip.MustParseAddr("198.51.100.7")}
		w.shut[n.Name] = true
		return []string{"PL5005/" + n.Name}
	}},
	{"node does not forward", "agents", func(w *world) []string {
		n := w.node().Name
		w.shut[n] = true
		p := w.runningOn(n)
		f := w.facts(n)
		if p.IPs[0].Is6() {
			i := slices.IndexFunc(f.Sysctls, func(s model.Sysctl) bool { return s.Device == "all" && s.Key == "forwarding" })
			f.Sysctls[i].Value = "0"
		} else {
			f.Sysctls = append(f.Sysctls, model.Sysctl{Device: "vxlan.calico", Key: "forwarding", Value: "0", Since: old})
		}
		return []string{"!PL3008/" + n}
	}},
	{"no way to a pod of another node", "agents", func(w *world) []string {
		from, to := w.node().Name, w.node().Name
		w.shut[from], w.shut[to] = true, true
		p := w.runningOn(to)
		for i := range w.s.Nodes {
			n := &w.s.Nodes[i]
			if k := slices.Index([]string{from, to}, n.Name); k >= 0 {
				n.CalicoIPs = []netip.Addr{netip.AddrFrom4([4]byte{198, 51, 100, byte(k + 1)}), netip.MustParseAddr([]string{"2001:db8::1", "2001:db8::2"}[k])}
				n.Addresses = n.CalicoIPs
			}
		}
		f := w.facts(from)
		f.Routes = append(f.Routes, model.Route{Dst: netip.MustParsePrefix("::/0"), Gateway: netip.MustParseAddr("fe80::1"), Link: card, Table: 254, Since: old})
		w.facts(to).Routes = append(w.facts(to).Routes, f.Routes[len(f.Routes)-1])
		if w.pick("by a rule", 2) == 1 {
			for _, six := range []bool{false, true} {
				f.Rules = append(f.Rules, model.Rule{Priority: 32766, Table: 254, IPv6: six, Since: old})
			}
			f.Rules = append(f.Rules, model.Rule{Priority: 9, Dst: single(p.IPs[0]), Type: "prohibit", IPv6: p.IPs[0].Is6(), Since: old})
		} else {
			f.Routes = append(f.Routes, model.Route{Dst: single(p.IPs[0]), Table: 254, Type: "blackhole", Since: old})
		}
		return []string{"PL3007/" + from} // of a borrowed address nothing dates it: Felix may be about to make its route
	}},
	{"a rule drops what a node forwards", "agents", func(w *world) []string {
		n := w.node().Name
		w.shut[n] = true
		family := map[bool]string{true: "ip6", false: "ip"}[w.runningOn(n).IPs[0].Is6()]
		f := w.facts(n)
		f.Firewall = append(f.Firewall, model.Chain{Family: family, Table: "filter", Name: "FORWARD", Hook: "forward", Policy: "accept", Rules: []model.ChainRule{{Does: "drop"}, {Does: "jump cali-FORWARD"}}, Since: old})
		return []string{"!PL3008/" + n}
	}},
	{"kube-proxy does not follow", "agents", func(w *world) []string {
		n := w.node().Name
		w.shut[n] = true
		w.runningOn(n)
		f := w.facts(n)
		switch w.pick("how", 3) {
		case 0:
			f.Proxies[0].State = []string{"stopped", "no answer", "not ready"}[w.pick("state", 3)]
		case 1: // its rules were flushed: nothing says when
			for i := range f.Firewall {
				f.Firewall[i].Rules = nil
			}
			return []string{"?PL5006/" + n}
		case 2: // its table was deleted
			f.Firewall = nil
			return []string{"?PL5006/" + n}
		}
		return []string{"!PL5006/" + n}
	}},
	{"the guard does not protect", "agents", func(w *world) []string {
		n := w.node().Name
		w.shut[n] = true
		g := &w.facts(n).Guards[0]
		switch w.pick("how", 3) {
		case 0:
			g.Version, g.Unprotected = "", "the version is unknown"
		case 1:
			g.Mode, g.Unprotected = "", "the runtime did not load it"
		case 2:
			g.Silent = true
		}
		return []string{"!PL5007/" + n}
	}},
	{"Felix not ready", "agents", func(w *world) []string {
		n := w.node().Name
		w.shut[n] = true
		m := &w.facts(n).Machines[0]
		m.Felix, m.Since = []string{"not ready", "not running"}[w.pick("felix", 2)], old
		p := w.runningOn(n)
		ip := p.IPs[len(p.IPs)-1]
		*w.path(p, ip) = model.Path{IP: ip, Error: "network is unreachable", Since: old} // it has not done it yet
		return []string{"!PL4008/" + n, "PL3003/ns/" + p.Name + " under PL4008/" + n}
	}},
	{"calico-node not ready", "", func(w *world) []string {
		n := w.node().Name
		w.shut[n] = true
		want := "!PL4008/" + n
		for i := range w.s.Nodes { // were there none on the others, nobody could say how those are
			on := w.s.Nodes[i].Name
			w.s.Pods = append(w.s.Pods, model.Pod{
				Namespace: "calico-system", Name: w.fresh("calico-node"), UID: uidOf("calico-node on " + on), Node: on, Phase: model.Running, Ready: on != n,
				HostNetwork: true, Owner: "DaemonSet/calico-node", Created: old, Started: old, Written: old,
			})
		}
		return []string{want}
	}},
	{"ADD fails", "", func(w *world) []string {
		n, name := w.node().Name, w.fresh("new")
		w.shut[n] = true
		w.s.Pods = append(w.s.Pods, model.Pod{Namespace: "ns", Name: name, UID: uidOf(name), Node: n, Phase: model.Pending, Created: now - 900, Written: now - 900})
		w.s.Events = append(w.s.Events, model.Event{
			Namespace: "ns", Pod: name, UID: uidOf(name), Node: n, Reason: "FailedCreatePodSandBox", Count: 30, First: now - 600, Last: now - 30,
			Message: `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "` + containerOf(name) + `": plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized`,
		})
		return []string{"!PL4007/" + n}
	}},
}
