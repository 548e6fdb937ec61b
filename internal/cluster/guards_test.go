package cluster

import (
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// A configuration that cannot be read may name the guard.
func TestInConfigs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		configs []model.CNIConfig
		state   model.State
		free    bool
	}{
		"Calico's alone":    {[]model.CNIConfig{{File: "10-calico.conflist", Plugins: []string{"calico"}}}, model.Complete, true},
		"none":              {nil, model.Complete, true},
		"it names us":       {[]model.CNIConfig{{File: "05-plumbline.conflist", Plugins: []string{"plumbline-cni", "calico"}}}, model.Complete, false},
		"it cannot be read": {[]model.CNIConfig{{File: "05-plumbline.conflist", Error: "unexpected end of JSON input"}}, model.Complete, false},
		"not read":          {nil, model.Lost, false},
	} {
		v := model.Seal(&model.Snapshot{
			Coverage:  []model.Coverage{{Table: model.CNIConfigs, Node: "w1", State: c.state}},
			NodeState: map[string]*model.NodeState{"w1": {CNIConfigs: c.configs}},
		})
		if err := inConfigs(v, "w1"); (err == nil) != c.free {
			t.Errorf("%s: %v", name, err)
		}
	}
}
