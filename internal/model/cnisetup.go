package model

import (
	"iter"
	"maps"
	"slices"
)

// A CNISetup is the CNI configuration of a node: which plugin sets up the pods' network.
type CNISetup struct {
	Loaded  *CNIConfig // the configuration that the runtime uses; nil if it has none
	Calicos *CNIConfig // Calico's configuration in use: loaded, or delegated to by the loaded one; else nil
	Doubt   bool       // Calico may be in use although Calicos is nil: a Calico file exists, or a file cannot be read; false if Calicos is set
}

// CNISetupOn returns the CNI configuration of a node.
func (v *View) CNISetupOn(node string) CNISetup {
	v.touched[CNIConfigs] = true
	return v.nodeIndex.setups[node]
}

// CNISetups returns those of all nodes whose configuration was read. Like InUse it is called
// once for the whole cluster and not counted in Touched.
func (v *View) CNISetups() iter.Seq[CNISetup] {
	return func(yield func(CNISetup) bool) {
		for _, node := range slices.Sorted(maps.Keys(v.s.NodeState)) {
			if !v.Sees(node, CNIConfigs) {
				continue
			}
			if !yield(v.nodeIndex.setups[node]) {
				return
			}
		}
	}
}

func setup(configs []*CNIConfig) CNISetup {
	var s CNISetup
	var calicos *CNIConfig
	for _, c := range configs {
		if c.Loaded {
			s.Loaded = c
		}
		if c.Calicos() && (calicos == nil || c.Loaded) {
			calicos = c
		}
		s.Doubt = s.Doubt || c.Error != ""
	}
	switch {
	case calicos == s.Loaded || s.Loaded == nil || s.Loaded.Multus():
		s.Calicos = calicos
	default:
		s.Doubt = s.Doubt || calicos != nil
	}
	if s.Loaded != nil && s.Loaded.Multus() {
		s.Doubt = true // the delegate may be in Multus' own file
	}
	s.Doubt = s.Doubt && s.Calicos == nil
	return s
}

// Networks returns the network names under which libcni caches Calico's results on the node;
// none if another plugin sets up the pods' network.
func (s *CNISetup) Networks() []string {
	switch {
	case s.Calicos == nil:
		return nil
	case s.Loaded == nil || s.Loaded == s.Calicos:
		return []string{s.Calicos.Network}
	default: // Multus has its own result beside that of its delegate
		return []string{s.Loaded.Network, s.Calicos.Network}
	}
}

// Calicos reports whether the configuration has Calico's plugin, or the guard that calls it.
func (c *CNIConfig) Calicos() bool { return c.has("calico", "plumbline-cni") }

// Multus reports whether the configuration delegates to other files.
func (c *CNIConfig) Multus() bool { return c.has("multus", "multus-shim") }

func (c *CNIConfig) has(plugins ...string) bool {
	return slices.ContainsFunc(c.Plugins, func(t string) bool { return slices.Contains(plugins, t) })
}

// DeviceOf is the name of Calico's interface in a node's sandbox, from libcni's cached
// results; eth0 if they do not name it. foreign is true if they name only other networks.
func (v *View) DeviceOf(node, sandbox string) (device string, foreign bool) {
	const usual = "eth0"
	setup := v.CNISetupOn(node)
	networks := setup.Networks()
	var own []string
	for r := range v.CNIResultsOf(node, sandbox) {
		foreign = true
		if slices.Contains(networks, r.Network) {
			own = append(own, r.Interface)
		}
	}
	if len(own) == 0 || slices.Contains(own, usual) {
		return usual, foreign && len(own) == 0
	}
	return own[0], false
}

// Inside returns Calico's interface in a node's sandbox; nil if its namespace has none of
// that name.
func (v *View) Inside(node, sandbox string) *Attachment {
	device, _ := v.DeviceOf(node, sandbox)
	for a := range v.AttachmentsOf(node, sandbox) {
		if a.Device == device {
			return a
		}
	}
	return nil
}
