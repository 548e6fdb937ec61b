package lab

import "fmt"

// A Trait is something that Calico or Kubernetes has since one of its minor versions, and that the
// lab, a scenario or a test must know.
type Trait struct {
	part  string
	since int
}

// All differences between the versions that matter to the lab.
var (
	AffinityTypes       = Trait{"calico", 30}     // block affinities have a type
	LoadBalancers       = Trait{"calico", 30}     // kube-controllers has the controller loadbalancer
	PluginAccount       = Trait{"calico", 26}     // the CNI plugin has a service account of its own
	AddressInKubernetes = Trait{"calico", 27}     // calico-node reads its address from the Node outside of a pod too
	HandlesChecked      = Trait{"calico", 24}     // calicoctl ipam check reports handles without addresses
	SequenceNumbers     = Trait{"calico", 23}     // blocks number their changes
	ProxyNFTables       = Trait{"kubernetes", 31} // kube-proxy's nftables mode needs no feature gate
)

// Has returns whether the lab's version of Calico or Kubernetes has it.
func (c Config) Has(t Trait) bool {
	version := map[string]string{"calico": c.Calico, "kubernetes": c.Kubernetes}[t.part]
	var major, minor int
	_, err := fmt.Sscanf(version, "v%d.%d", &major, &minor)
	return err == nil && minor >= t.since
}
