package detect

import (
	"cmp"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// Calico says what Calico does in this cluster: whole families of findings have no
// meaning where it only enforces policy, or where another hands out addresses.
type Calico struct {
	IPAM    string // calico, host-local, other, or unknown
	Network string // calico, other, or unknown
	Etcd    bool   // endpoints are objects of their own
	Why     string // one line: what was recognised, and from what
}

// Unknown is what could not be told.
const Unknown = "unknown"

// Recognise tells what Calico does here. What all nodes do is the truth; then comes what
// its configuration says, then what some nodes do, then what the ledger holds. So a node
// that is strange, or lies, cannot make Calico another for the whole cluster.
func Recognise(v *model.View) Calico {
	info := v.Info()
	c := Calico{Etcd: info.Datastore == "etcd"}
	nodes := byNodes(v)
	if nodes.network == "other" && (info.Networking != "" || info.IPAM == "calico") {
		nodes = told{} // what was said outright is truer than what was not found
	}
	switch {
	case nodes.all && nodes.network == "calico" && nodes.ipam != "":
		c.IPAM, c.Network, c.Why = nodes.ipam, nodes.network, "by what the nodes have loaded"
		return c.describe()
	case info.IPAM != "" && info.Networking != "":
		c.IPAM, c.Network, c.Why = info.IPAM, info.Networking, "by its configuration"
		return c.describe()
	}
	books := byBooks(v)
	c.IPAM = cmp.Or(info.IPAM, nodes.ipam, books.IPAM)
	c.Network = cmp.Or(info.Networking, nodes.network, books.Network)
	c.Why = "by what the books hold"
	if nodes.network != "" {
		c.Why = "by what the nodes have loaded"
	}
	return c.describe()
}

// byBooks goes by what the ledger holds.
func byBooks(v *model.View) Calico {
	c := Calico{IPAM: Unknown, Network: Unknown}
	ledgered := v.InUse()
	if ledgered {
		c.IPAM = "calico"
	}
	if ledgered || v.Annotated() {
		c.Network = "calico"
	}
	return c
}

// told is what the nodes' runtimes have really loaded, as far as it was seen; empty where
// it does not tell.
type told struct {
	network, ipam string
	all           bool // every node that was seen says so
}

// byNodes: the network is Calico's if it is on any node, and another's only if no node
// has so much as a file of Calico's. Where nodes differ it is judged node by node.
func byNodes(v *model.View) told {
	t := told{all: true}
	var with, without []string // who gives addresses: on nodes with Calico, and without
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

// one is what all are; empty if they differ.
func one(of []string) string {
	if slices.ContainsFunc(of, func(s string) bool { return s != of[0] }) {
		return ""
	}
	return of[0]
}

// ipamOf tells who gives a node's pods their addresses.
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
	c.Why = "IPAM is " + c.IPAM + ", network is " + c.Network + " (" + c.Why + ")"
	return c
}

// A Fit tells whether a family of findings means anything here.
type Fit int

// No is a complete answer; under Maybe all stays suspected.
const (
	No Fit = iota
	Maybe
	Yes
)

func fit(what string) Fit {
	switch what {
	case "calico":
		return Yes
	case Unknown:
		return Maybe
	default:
		return No
	}
}

// Where IPAM is another's, the ledger says nothing about pods.
func ipamIsCalicos(c Calico) Fit { return fit(c.IPAM) }

// A block can be broken, and no pod recorded in it.
func ipamMayBeCalicos(c Calico) Fit {
	if fit(c.IPAM) == No {
		return No
	}
	return Yes
}

func networkIsCalicos(c Calico) Fit { return fit(c.Network) }

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

// A lock stops pods wherever Calico may be what gives them their network.
func networkMayBeCalicos(c Calico) Fit {
	if fit(c.Network) == No {
		return No
	}
	return Yes
}
