package detect

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL9006 finds datastores that were restored from a backup. Nodes and whoever reads the cluster remember how far they
// had come.
var PL9006 = &Detector{
	Code: finding.PL9006, Title: "datastore was restored from an earlier time", Severity: finding.Error, Class: finding.Now,
	Each: []model.Table{model.Cluster, model.Nodes}, Needs: []model.Table{model.Cluster, model.Nodes}, Uses: []model.Table{model.Machines},
	Since: "0.2", Run: restored,
}

// noRevision is said of older agents, and of those that do not reach the API server.
const noRevision = "the agent remembers no revision"

func restored(p *Pass, t model.Table, row int32) {
	if t == model.Cluster {
		for _, r := range p.Info().Restored {
			if r.Store != model.StoreKubernetes && r.Store != model.StoreCalico {
				continue // a bundle comes from strangers
			}
			subject := model.Ref{Kind: model.KindCluster, Name: r.Store}
			p.wentBack(r, finding.Evidence{Ref: subject, Says: revisionsOf(r, "an earlier read"), Since: r.Since})
		}
		return
	}
	n := p.Node(row)
	m := p.MachineOf(n.Name)
	switch {
	case m == nil: // no agent, which is said elsewhere
	case !m.Restored.IsZero():
		r := m.Restored
		r.Store = model.StoreKubernetes // a node cannot know another
		p.wentBack(r, finding.Evidence{Ref: m.Ref(), Says: revisionsOf(r, "the agent"), Since: r.Since})
	case m.Revision == 0:
		p.untold[noRevision] = append(p.untold[noRevision], n.Name)
	}
}

// wentBack reports a datastore; findings about the same one are merged.
func (p *Pass) wentBack(r model.Restored, e finding.Evidence) {
	records := "what was written since is lost, also Calico's records of running pods"
	if r.Store == model.StoreKubernetes && p.Info().Datastore == "etcd" {
		records = "what was written since is lost; Calico's records, in an etcd of their own, are not"
	}
	p.Report(finding.Finding{
		Subject: model.Ref{Kind: model.KindCluster, Name: r.Store}, Evidence: []finding.Evidence{e},
		Summary: "was restored from an earlier time: " + records,
	})
}

func revisionsOf(r model.Restored, who string) string {
	if r.From == 0 && r.To == 0 {
		return "noticed by an earlier leader of the controller"
	}
	return fmt.Sprintf("%s saw revision %d, and later %d", who, r.From, r.To)
}
