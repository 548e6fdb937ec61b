package detect

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL9003 finds a locked datastore.
var PL9003 = &Detector{
	Code: finding.PL9003, Title: "datastore locked: no pod can start or stop", Severity: finding.Error, Class: finding.Now,
	Each: []model.Table{model.Cluster}, Needs: []model.Table{model.Cluster}, Applies: networkMayBeCalicos, Since: "0.1", Run: locked,
}

func locked(p *Pass, _ model.Table, _ int32) {
	if i := p.Info(); !i.Ready {
		subject := model.Ref{Kind: model.KindCluster, Name: "datastore"}
		p.Report(finding.Finding{
			Subject: subject, Summary: "datastoreReady is false: every CNI ADD and DEL fails, Felix waits",
			Evidence: []finding.Evidence{{Ref: subject, Says: "datastoreReady: false", Revision: i.Revision}},
		})
	}
}
