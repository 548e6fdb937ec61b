package cluster

import (
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

func TestUnknownNames(t *testing.T) {
	t.Parallel()
	read := func(ts ...model.Table) *model.View {
		s := &model.Snapshot{Nodes: []model.Node{{Name: "w1"}}, Hosts: []model.Host{{Name: "calico1", Kubernetes: "w1"}}, Pods: []model.Pod{{Namespace: "shop", Name: "db-0"}}}
		for _, t := range ts {
			s.Coverage = append(s.Coverage, model.Coverage{Table: t, State: model.Complete})
		}
		return model.Seal(s)
	}
	all := read(model.Nodes, model.Hosts, model.Pods)
	const bundle, live = true, false
	for name, c := range map[string]struct {
		bundle          bool
		v               *model.View
		node, namespace string
		found           int
		want            string
	}{
		"all are there":             {bundle, all, "w1", "shop", 0, ""},
		"nothing was named":         {bundle, all, "", "", 0, ""},
		"no such node":              {live, all, "w2", "", 0, "no such node"},
		"a node that left findings": {live, all, "w2", "", 1, ""},
		"Calico's name":             {live, all, "calico1", "", 3, "calls it w1"},
		"nodes were not read":       {live, read(model.Pods), "w2", "", 0, ""},
		"no such namespace":         {bundle, all, "", "typo", 0, "nothing was checked"},
		"one that left findings":    {bundle, all, "", "typo", 2, ""},
		"pods were not read":        {bundle, read(model.Nodes), "", "typo", 0, ""},
	} {
		err := UnknownNames(c.v, c.bundle, c.node, c.namespace, c.found)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
