package audit_test

import (
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// A fault breaks a world and returns the expected findings.
type fault struct {
	name string
	only string // a datastore, "agents" for a fault that only node state shows, or empty
	make func(w *world) []string
}

func (f *fault) fits(w *world) bool {
	return f.only == "" || f.only == w.datastore() || f.only == "agents" && w.agents
}

var faults = slices.Concat(ipamFaults, deviceFaults, routeFaults, insideFaults, bookFaults, lifeFaults, nodeFaults)

var ipamFaults = []fault{
	{"leaked", "", func(w *world) []string {
		ip := w.take(&w.s.Blocks[0])
		gone := w.fresh("gone")
		w.hold(ip, model.Attribute{Handle: "k8s-pod-network." + containerOf(gone), Namespace: "ns", Pod: gone, Node: w.s.Nodes[0].Name}, true)
		return []string{"PL1001/" + ip.String()}
	}},
	{"leaked behind a finished pod", "", func(w *world) []string {
		p := w.running()
		p.Phase, p.Ready = model.Failed, false
		w.stop(p)
		w.forget(p)
		if !w.etcd {
			p.Annotation = model.Emptied
		}
		return each(p.IPs, "PL1001/%s")
	}},
	{"leaked by an older sandbox", "", func(w *world) []string {
		p := w.running()
		ip := w.take(&w.s.Blocks[0])
		w.hold(ip, model.Attribute{Handle: "k8s-pod-network." + containerOf("older"+p.Name), Namespace: "ns", Pod: p.Name, Node: p.Node}, true)
		return []string{"PL1001/" + ip.String()}
	}},
	{"unallocated", "", func(w *world) []string {
		p := w.running()
		w.release(p.IPs[0])
		return []string{"PL1002/" + p.IPs[0].String()}
	}},
	{"robbed", "", func(w *world) []string {
		p := w.running()
		p.Ready = true
		w.release(p.IPs...)
		w.forget(p)
		if !w.etcd {
			p.Annotation = model.Emptied
		}
		return append(each(p.IPs, "PL1002/%s under PL2001/ns/"+p.Name), "PL2001/ns/"+p.Name)
	}},
	{"wrong node", "", func(w *world) []string {
		w.node()
		p := w.running()
		other := w.s.Nodes[0].Name
		if other == p.Node {
			other = w.s.Nodes[1].Name
		}
		b := w.blockWith(p.IPs[0])
		for i := range b.Attributes {
			if b.Attributes[i].Pod == p.Name {
				b.Attributes[i].Node = other
			}
		}
		return []string{"PL1003/" + p.IPs[0].String(), "PL5002/kube-controllers/" + p.IPs[0].String() + " under PL1003/" + p.IPs[0].String()}
	}},
	{"held and offered", "", func(w *world) []string {
		b := w.block(pool4, "")
		ip := w.take(b)
		at := model.Attribute{Handle: "k8s-pod-network." + containerOf(w.fresh("x")), Namespace: "ns", Pod: "nobody", Node: w.s.Nodes[0].Name}
		w.hold(ip, at, true)
		b = w.blockWith(ip)
		b.Free = append(b.Free, ordinal(b, ip))
		head := "PL1004/" + b.CIDR.String()
		return []string{head, "PL1001/" + ip.String() + " under " + head}
	}},
	{"bad index", "", func(w *world) []string {
		b := w.block(pool4, "")
		b.Held, b.Free = append(b.Held, model.Slot{0, 5}), b.Free[1:]
		return []string{"PL1004/" + b.CIDR.String(), "PL5002/kube-controllers/crashes"}
	}},
	{"inside another block", "", func(w *world) []string {
		outer := w.block(pool4, "")
		inner := *outer
		inner.CIDR = netip.PrefixFrom(outer.CIDR.Addr(), 29)
		inner.Name = inner.Name[:len(inner.Name)-2] + "29"
		inner.Length, inner.Free = 8, slices.Clone(outer.Free[:8])
		w.s.Blocks = append(w.s.Blocks, inner)
		return []string{"PL1005/" + inner.CIDR.String()}
	}},
	{"orphan handle", "", func(w *world) []string {
		h := "k8s-pod-network." + containerOf(w.fresh("orphan"))
		w.s.Handles = append(w.s.Handles, model.Handle{ID: h, Name: h, Blocks: []model.BlockCount{{CIDR: w.s.Blocks[0].CIDR, Count: 1}}})
		return []string{"PL1006/" + h}
	}},
	{"miscounted handle", "", func(w *world) []string {
		p := w.running()
		h := "k8s-pod-network." + containerOf(p.Name)
		for i := range w.s.Handles {
			if w.s.Handles[i].ID == h {
				w.s.Handles[i].Blocks[0].Count += 2
			}
		}
		return []string{"PL1006/" + h}
	}},
	{"missing handle", "", func(w *world) []string {
		p := w.running()
		h := "k8s-pod-network." + containerOf(p.Name)
		w.s.Handles = slices.DeleteFunc(w.s.Handles, func(x model.Handle) bool { return x.ID == h })
		return []string{"PL1006/" + h}
	}},
	{"affinity of a gone node", "", func(w *world) []string {
		cidr := netip.PrefixFrom(model.Offset(pool4, int32(60000+16*w.n)).Prev(), 28).Masked()
		n := w.fresh("gone")
		w.s.Affinities = append(w.s.Affinities, model.Affinity{Name: n, Node: n, Type: "host", CIDR: cidr, State: "confirmed"})
		name := n + "/" + cidr.String()
		if w.etcd {
			return []string{"PL1007/" + name}
		}
		return []string{"PL1007/" + name, "PL5004/" + name + " under PL1007/" + name}
	}},
	{"second affinity", "", func(w *world) []string {
		n := w.node().Name
		b := w.s.Blocks[0]
		w.s.Affinities = append(w.s.Affinities, model.Affinity{Name: n + b.Name, Node: n, Type: "host", CIDR: b.CIDR, State: "confirmed", Labelled: true})
		return []string{"PL1007/" + n + "/" + b.CIDR.String()}
	}},
	{"tunnel not recorded", "", func(w *world) []string {
		n := w.node()
		ip := n.Tunnels[0].IP
		w.release(ip)
		return []string{"PL1008/" + ip.String()}
	}},
	{"endpoint without pod", "etcd", func(w *world) []string {
		gone := w.fresh("gone")
		n := w.s.Nodes[0].Name
		w.s.Endpoints = append(w.s.Endpoints, model.Endpoint{Namespace: "ns", Name: n + "-k8s-" + gone, Node: n, Orchestrator: "k8s", Pod: gone, IPs: []netip.Addr{w.take(&w.s.Blocks[0])}})
		return []string{"PL2002/ns/" + n + "-k8s-" + gone}
	}},
	{"another sandbox", "", func(w *world) []string {
		p := w.running()
		p.ContainerID = containerOf("another" + p.Name)
		for i := range w.s.Endpoints {
			if w.s.Endpoints[i].Pod == p.Name {
				w.s.Endpoints[i].ContainerID = p.ContainerID
			}
		}
		if w.etcd {
			p.ContainerID = ""
		}
		return []string{"PL2003/ns/" + p.Name}
	}},
	{"status differs", "kdd", func(w *world) []string {
		p := w.running()
		p.IPs = []netip.Addr{netip.MustParseAddr("10.0.200.1")}
		return []string{"PL2004/ns/" + p.Name}
	}},
	{"shared address", "", (*world).shared},
	{"unlabelled affinity", "kdd", func(w *world) []string {
		n := w.node().Name
		a := &w.s.Affinities[len(w.s.Affinities)-1]
		a.Labelled = false
		return []string{"PL5004/" + n + "/" + a.CIDR.String()}
	}},
	{"locked", "", func(w *world) []string {
		w.s.Info[0].Ready = false
		return []string{"PL9003/datastore"}
	}},
}

// each names one finding for every address.
func each(ips []netip.Addr, name string) []string {
	var out []string
	for _, ip := range ips {
		out = append(out, fmt.Sprintf(name, ip))
	}
	return out
}
