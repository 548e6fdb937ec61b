package detect_test

import (
	"fmt"
	"testing"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
)

// Sources in order: the CNI configuration if all nodes agree, Calico's configuration, the
// CNI configuration of some nodes, IPAM blocks and annotations. One odd node changes nothing.
func TestRecognise(t *testing.T) {
	t.Parallel()
	calico := model.CNIConfig{File: "10-calico.conflist", Loaded: true, Plugins: []string{"calico", "portmap"}, IPAM: "calico-ipam"}
	canal, delegate, broken := calico, calico, model.CNIConfig{File: "10-x.conflist", Error: "unexpected end"}
	canal.IPAM, delegate.Loaded = "host-local", false
	aws := model.CNIConfig{File: "10-aws.conflist", Loaded: true, Plugins: []string{"aws-cni"}}
	multus := model.CNIConfig{File: "00-multus.conf", Loaded: true, Plugins: []string{"multus"}}
	shim := model.CNIConfig{File: "00-multus.conf", Loaded: true, Plugins: []string{"multus-shim"}}
	type node = []model.CNIConfig
	for name, c := range map[string]struct {
		info   model.Info
		blocks bool
		nodes  []node
		want   string
	}{
		"nothing known":                      {want: "unknown unknown"},
		"blocks only":                        {blocks: true, want: "calico calico"},
		"all nodes":                          {nodes: []node{{calico}, {calico}}, want: "calico calico"},
		"another's everywhere":               {nodes: []node{{aws}, {aws}}, want: "other other"},
		"another's everywhere, old blocks":   {nodes: []node{{aws}, {aws}}, blocks: true, want: "other other"},
		"one odd node":                       {nodes: []node{{calico}, {aws}, {calico}}, want: "calico calico"},
		"one odd node, configured":           {info: model.Info{IPAM: "calico", Networking: "calico"}, nodes: []node{{aws}}, want: "calico calico"},
		"network configured":                 {info: model.Info{Networking: "calico"}, blocks: true, nodes: []node{{aws}}, want: "calico calico"},
		"policy only, one node differs":      {info: model.Info{IPAM: "other", Networking: "other"}, nodes: []node{{aws}, {calico}}, want: "other other"},
		"canal, whose backend is none":       {info: model.Info{IPAM: "other", Networking: "other"}, nodes: []node{{canal}, {canal}}, want: "host-local calico"},
		"multus":                             {nodes: []node{{multus, delegate}}, want: "calico calico"},
		"multus-shim":                        {nodes: []node{{shim, delegate}}, want: "calico calico"},
		"multus-shim on some":                {nodes: []node{{shim, delegate}, {calico}}, want: "calico calico"},
		"multus with all in its own file":    {nodes: []node{{shim}}, want: "unknown unknown"},
		"multus with all in its own, blocks": {nodes: []node{{shim}}, blocks: true, want: "calico calico"},
		"a file of Calico's is left":         {nodes: []node{{aws, delegate}}, want: "unknown unknown"},
		"a file that cannot be read":         {nodes: []node{{aws}, {aws, broken}}, want: "unknown unknown"},
		"addresses by two, blocks":           {nodes: []node{{calico}, {canal}}, blocks: true, want: "calico calico"},
		"addresses by two, nothing else":     {nodes: []node{{calico}, {canal}}, want: "unknown calico"},
		"one node without any file":          {nodes: []node{{calico}, {}}, want: "calico calico"},
		"no node has any file":               {nodes: []node{{}, {}}, want: "unknown unknown"},
		"pod CIDR set, network by nodes":     {info: model.Info{IPAM: "host-local"}, nodes: []node{{aws}, {canal}}, want: "host-local calico"},
		"guard before Calico's":              {nodes: []node{{{File: "10-c", Loaded: true, Plugins: []string{"plumbline-cni"}, IPAM: "calico-ipam"}}}, want: "calico calico"},
		"guard, and nothing but blocks":      {blocks: true, nodes: []node{{{File: "10-c", Loaded: true, Plugins: []string{"plumbline-cni"}, IPAM: "calico-ipam"}}}, want: "calico calico"},
	} {
		s := &model.Snapshot{Info: []model.Info{c.info}, NodeState: map[string]*model.NodeState{}}
		for i, configs := range c.nodes {
			n := fmt.Sprintf("n%d", i)
			s.NodeState[n] = &model.NodeState{CNIConfigs: append(node{}, configs...)}
			s.Coverage = append(s.Coverage, model.Coverage{Table: model.CNIConfigs, Node: n, State: model.Complete})
		}
		if c.blocks {
			s.Blocks = []model.Block{{Attributes: []model.Attribute{{Namespace: "a", Pod: "b"}}}}
		}
		if got := detect.Recognise(model.Seal(s)); got.IPAM+" "+got.Network != c.want {
			t.Errorf("%s: %s, want %s", name, got.Why, c.want)
		}
	}
}
