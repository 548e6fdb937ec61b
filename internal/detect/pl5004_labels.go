package detect

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL5004 finds affinities that IPAM cannot find: since Calico 3.31 it selects by label.
var PL5004 = &Detector{
	Code: finding.PL5004, Title: "block affinity lacks the labels by which Calico IPAM finds it", Severity: finding.Warning, Class: finding.Leak,
	Each:       []model.Table{model.Affinities},
	Needs:      []model.Table{model.Affinities, model.Cluster},
	ShadowedBy: []finding.Code{finding.PL1007},
	Applies:    labelsMatter, Since: "0.1", Run: unlabelled,
}

func unlabelled(p *Pass, _ model.Table, row int32) {
	a := p.Affinity(row)
	if a.Labelled || a.Type == "virtual" || !since(p.Info().Calico, 3, 31) {
		return
	}
	p.Report(finding.Finding{
		Subject: a.Ref(), Node: a.Node, Summary: "IPAM ignores it: the node will claim more and more blocks",
		// The first node of a rolling upgrade raises the cluster's version; the affinities of
		// the others get their labels when calico-node restarts there.
		Evidence: []finding.Evidence{affinitySays(a), {Ref: model.Ref{Kind: model.KindCluster, Name: "calico"}, Says: p.Info().Calico}},
	})
}
