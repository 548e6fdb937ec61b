package model

import (
	"iter"
	"maps"
	"slices"
)

// A CNISetup is who gives the pods of a node their network, by its configuration files.
type CNISetup struct {
	Loaded  *CNIConfig // the one that the runtime uses; nil if it has none
	Calicos *CNIConfig // Calico's that is in use: loaded, or called by the loaded one; else nil
	Doubt   bool       // Calico's may be in use although none was found: a file of it lies there, or one cannot be read
}

// CNISetupOn tells who gives the pods of a node their network.
func (v *View) CNISetupOn(node string) CNISetup {
	v.touched[CNIConfigs] = true
	return v.nodeIndex.setups[node]
}

// CNISetups gives those of all nodes whose configuration was seen. Like Ledgered it is
// asked once, for all of the cluster.
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
	case calicos == s.Loaded || s.Loaded == nil || s.Loaded.multus():
		s.Calicos = calicos
	default:
		s.Doubt = s.Doubt || calicos != nil
	}
	if s.Loaded != nil && s.Loaded.multus() {
		s.Doubt = true // what it calls may stand in its own file
	}
	s.Doubt = s.Doubt && s.Calicos == nil
	return s
}

// Networks gives the names under which libcni keeps Calico's work on the node; none if
// the pods there get their network from another.
func (s *CNISetup) Networks() []string {
	switch {
	case s.Calicos == nil:
		return nil
	case s.Loaded == nil || s.Loaded == s.Calicos:
		return []string{s.Calicos.Network}
	default: // Multus has its own record beside that of the one that it calls
		return []string{s.Loaded.Network, s.Calicos.Network}
	}
}

// Calicos tells that the configuration is Calico's, or has our guard before it.
func (c *CNIConfig) Calicos() bool { return c.has("calico", "plumbline-cni") }

// multus tells that the configuration only calls others, by their files.
func (c *CNIConfig) multus() bool { return c.has("multus", "multus-shim") }

func (c *CNIConfig) has(plugins ...string) bool {
	return slices.ContainsFunc(c.Plugins, func(t string) bool { return slices.Contains(plugins, t) })
}

// DeviceOf is what Calico's device is called inside a node's sandbox, by libcni's records.
// Where they name networks of others only, foreign tells so, and it is the usual name.
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

// Inside gives Calico's device inside a node's sandbox; nil if its namespace has none of
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
