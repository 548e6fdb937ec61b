package audit_test

import (
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// hanging is base with a mount on n1 that has not answered for an hour.
func hanging(state model.State) *model.Snapshot {
	s := base()
	s.NodeState = map[string]*model.NodeState{"n1": {CNIConfigs: []model.CNIConfig{{File: "10-calico.conflist", Loaded: true, Plugins: []string{"calico"}}}, Mounts: []model.Mount{{Target: "/mnt", Type: "nfs4", Source: "nas:/vol", Device: "0:50", Silent: true, Pods: []string{"u"}, Since: now - 3600}}}}
	for _, t := range model.FactTables() {
		s.Coverage = append(s.Coverage, model.Coverage{Table: t, Node: "n1", State: state, Reason: "no answer"})
	}
	if state != model.Complete {
		s.NodeState = nil
	}
	return s
}

// If a node stops answering before the reread, its findings stay, and its tables are
// reported as not read.
func TestNodeStopsAnswering(t *testing.T) {
	t.Parallel()
	facts := func(s *model.Snapshot) observe.Reread {
		var nodes []model.Coverage
		for _, c := range s.Coverage {
			if c.Node != "" {
				nodes = append(nodes, c)
			}
		}
		return observe.Reread{Rows: model.Snapshot{NodeState: s.NodeState, Coverage: nodes}}
	}
	mended := hanging(model.Complete)
	mended.NodeState["n1"].Mounts[0].Silent = false
	for name, c := range map[string]struct {
		looks               []observe.Reread
		confirmed, suspects int
		gaps                bool
	}{
		"still so":              {[]observe.Reread{facts(hanging(model.Complete))}, 1, 0, false},
		"mended":                {[]observe.Reread{facts(mended)}, 0, 0, false},
		"silent":                {[]observe.Reread{facts(hanging(model.Lost))}, 0, 1, true},
		"silent the last time":  {[]observe.Reread{facts(hanging(model.Complete)), facts(hanging(model.Lost))}, 0, 1, true},
		"silent the first time": {[]observe.Reread{facts(hanging(model.Lost)), facts(hanging(model.Complete))}, 0, 1, true},
	} {
		src := audit.Source{Kubernetes: &looks{answers: []observe.Reread{owners(base())}}, Calico: &looks{answers: []observe.Reread{ipam(base())}}, Nodes: &looks{answers: c.looks}}
		r := judge(t, hanging(model.Complete), src, audit.Options{})
		gap := slices.ContainsFunc(r.Gaps, func(c model.Coverage) bool { return c.Node == "n1" && c.Table == model.Mounts })
		if len(r.Findings) != c.confirmed || len(r.Unconfirmed) != c.suspects || gap != c.gaps {
			t.Errorf("%s: findings %v, unconfirmed %v, gaps %v", name, names(r.Findings), names(r.Unconfirmed), r.Gaps)
		}
	}
}
