package detect

import (
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

// Recognise tells what Calico does here, from its configuration where that was read,
// else from what the ledger holds.
func Recognise(v *model.View) Calico {
	info := v.Info()
	if c, ok := byNodes(v, info); ok {
		return c.describe()
	}
	c := Calico{IPAM: info.IPAM, Network: info.Networking, Etcd: info.Datastore == "etcd", Why: "by its configuration"}
	if c.IPAM != "" && c.Network != "" {
		return c.describe()
	}
	ledgered := v.Ledgered()
	c.Why = "by what the books hold"
	if c.IPAM == "" {
		c.IPAM = Unknown
		if ledgered {
			c.IPAM = "calico"
		}
	}
	if c.Network == "" {
		c.Network = Unknown
		if ledgered || v.Annotated() {
			c.Network = "calico"
		}
	}
	return c.describe()
}

// byNodes goes by the network configuration that the nodes' runtimes have really loaded,
// where they all have the same kind. Where they differ it is judged node by node.
func byNodes(v *model.View, info *model.Info) (Calico, bool) {
	c := Calico{Etcd: info.Datastore == "etcd", Why: "by what the nodes have loaded"}
	for _, f := range v.Snapshot().Facts {
		for i := range f.CNIConfigs {
			cfg := &f.CNIConfigs[i]
			if !cfg.Loaded || cfg.Error != "" || slices.Contains(cfg.Plugins, "multus") {
				continue // Multus only calls another, which stands elsewhere
			}
			network, ipam := roles(cfg)
			if c.Network != "" && (c.Network != network || c.IPAM != ipam) {
				return Calico{}, false
			}
			c.Network, c.IPAM = network, ipam
		}
	}
	return c, c.Network != ""
}

// roles tells who gives a node's pods their network, and who their addresses.
func roles(cfg *model.CNIConfig) (network, ipam string) {
	network, ipam = "other", "other"
	if slices.ContainsFunc(cfg.Plugins, func(t string) bool { return t == "calico" || t == "plumbline-cni" }) {
		network = "calico"
	}
	switch cfg.IPAM {
	case "calico-ipam":
		ipam = "calico"
	case "host-local":
		ipam = "host-local"
	}
	return network, ipam
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
func ledgerIsCalicos(c Calico) Fit { return fit(c.IPAM) }

// A block can be broken, and no pod recorded in it.
func ledgerMayBeCalicos(c Calico) Fit {
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
	return ledgerMayBeCalicos(c)
}

// A lock stops pods wherever Calico may be what gives them their network.
func networkMayBeCalicos(c Calico) Fit {
	if fit(c.Network) == No {
		return No
	}
	return Yes
}
