package detect

import (
	"cmp"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// Calico describes what Calico does in this cluster. Many codes do not apply where Calico
// only enforces policy, or where another IPAM plugin assigns addresses.
type Calico struct {
	IPAM    string // calico, host-local, other, or unknown
	Network string // calico, other, or unknown
	Etcd    bool   // endpoints are objects of their own
	// Enterprise is the version of Calico Enterprise, which Plumbline only reads; else empty.
	Enterprise      string
	Dataplane       string // bpf, vpp, …; empty if it is not known
	InterfacePrefix string // of FelixConfiguration
	Why             string // one line: what was detected, and from what
}

// unknownIPAM is the value of IPAM and Network if they could not be detected.
const unknownIPAM = "unknown"

// Recognise detects what Calico does here. Sources, in this order: the CNI configuration if
// all nodes agree, Calico's own configuration, the CNI configuration of some nodes, the IPAM
// blocks and pod annotations. So one misconfigured or wrongly reporting node cannot change
// the result for the whole cluster.
func Recognise(v *model.View) Calico {
	info := v.Info()
	c := Calico{Etcd: info.Datastore == "etcd", Enterprise: info.Enterprise, Dataplane: info.Dataplane, InterfacePrefix: info.InterfacePrefix}
	if (info.IPAM == "other" || info.Networking == "other") && v.PodsInBlocks() {
		info = &model.Info{} // what Calico writes outweighs what its configuration says
	}
	nodes := byNodes(v)
	if nodes.network == "other" && (info.Networking != "" || info.IPAM == "calico") {
		nodes = loadedCNI{} // explicit configuration outweighs that no Calico file was found
	}
	switch {
	case nodes.all && nodes.network == "calico" && nodes.ipam != "":
		c.IPAM, c.Network, c.Why = nodes.ipam, nodes.network, fromNodes
		return c.describe()
	case info.IPAM != "" && info.Networking != "":
		c.IPAM, c.Network, c.Why = info.IPAM, info.Networking, fromConfig
		return c.describe()
	}
	records := byRecords(v)
	c.IPAM = cmp.Or(info.IPAM, nodes.ipam, records.IPAM)
	c.Network = cmp.Or(info.Networking, nodes.network, records.Network)
	c.Why = records.Why
	if nodes.network != "" {
		c.Why = fromNodes
	}
	return c.describe()
}

// What IPAM and network were detected from.
const (
	fromNodes   = "the CNI configuration of the nodes"
	fromConfig  = "Calico's configuration"
	fromRecords = "IPAM blocks and pod annotations"
	fromPodCIDR = "pod annotations and the nodes' pod CIDRs"
)

// byRecords detects it from the IPAM blocks and the pod annotations.
func byRecords(v *model.View) Calico {
	c := Calico{IPAM: unknownIPAM, Network: unknownIPAM, Why: fromRecords}
	inUse := v.InUse()
	switch {
	case inUse:
		c.IPAM = "calico"
	case v.ByPodCIDR():
		c.IPAM, c.Why = "host-local", fromPodCIDR
	}
	if inUse || v.Annotated() {
		c.Network = "calico"
	}
	return c
}

// loadedCNI is what the runtimes of the nodes have loaded, as far as it was read; empty
// strings where it is not known.
type loadedCNI struct {
	network, ipam string
	all           bool // every node whose configuration was read agrees
}

// byNodes: the network is Calico's if any node has loaded it, and another's only if no node
// has even a Calico configuration file. If nodes differ, detectors check node by node.
func byNodes(v *model.View) loadedCNI {
	t := loadedCNI{all: true}
	var with, without []string // IPAM plugins: on nodes with Calico, and without
	for s := range v.CNISetups() {
		switch {
		case s.Calicos != nil:
			with = append(with, ipamOf(s.Calicos))
		case s.Doubt:
			t.all = false
		case s.Loaded != nil:
			without = append(without, ipamOf(s.Loaded))
		}
	}
	switch {
	case len(with) > 0:
		t.network, t.ipam = "calico", one(with)
		t.all = t.all && len(without) == 0
	case t.all && len(without) > 0:
		t.network, t.ipam = "other", one(without)
	default:
		t.all = false
	}
	return t
}

// one is the common value; empty if the values differ.
func one(of []string) string {
	if slices.ContainsFunc(of, func(s string) bool { return s != of[0] }) {
		return ""
	}
	return of[0]
}

// ipamOf is the IPAM plugin of a node's CNI configuration.
func ipamOf(c *model.CNIConfig) string {
	switch c.IPAM {
	case "calico-ipam":
		return "calico"
	case "host-local":
		return "host-local"
	default:
		return "other"
	}
}

func (c Calico) describe() Calico {
	c.Why = "IPAM " + c.IPAM + ", network " + c.Network + " (detected from " + c.Why + ")"
	if c.Dataplane == vpp {
		c.Why += ", data plane VPP"
	}
	if c.Enterprise != "" {
		c.Why += ", Calico Enterprise " + c.Enterprise
	}
	return c
}

// A Fit is whether a detector applies to this cluster.
type Fit int

// No: nothing to check, coverage is complete. Maybe: it runs, and its findings stay
// unconfirmed. Yes: it runs.
const (
	No Fit = iota
	Maybe
	Yes
)

func fit(what string) Fit {
	switch what {
	case "calico":
		return Yes
	case unknownIPAM:
		return Maybe
	default:
		return No
	}
}

// ipamIsCalicos: if another IPAM plugin assigns addresses, Calico's blocks do not describe pods.
func ipamIsCalicos(c Calico) Fit { return fit(c.IPAM) }

// ipamMayBeCalicos: a block can be broken although it records no pod.
func ipamMayBeCalicos(c Calico) Fit {
	if fit(c.IPAM) == No {
		return No
	}
	return Yes
}

func networkIsCalicos(c Calico) Fit { return fit(c.Network) }

// vpp is a data plane outside the kernel: pods have no interfaces, routes and neighbours there.
const vpp = "vpp"

func kernelIsCalicos(c Calico) Fit {
	if c.Dataplane == vpp {
		return No
	}
	return fit(c.Network)
}

// isOpenSource: the versions of Calico Enterprise are its own.
func isOpenSource(c Calico) Fit {
	if c.Enterprise != "" {
		return No
	}
	return Yes
}

func endpointsAreObjects(c Calico) Fit {
	if !c.Etcd {
		return No
	}
	return fit(c.Network)
}

func labelsMatter(c Calico) Fit {
	if c.Etcd {
		return No
	}
	return ipamMayBeCalicos(c)
}

// networkMayBeCalicos: a lock stops pods wherever Calico may be their network plugin.
func networkMayBeCalicos(c Calico) Fit {
	if fit(c.Network) == No {
		return No
	}
	return Yes
}
