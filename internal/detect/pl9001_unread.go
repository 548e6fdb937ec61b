package detect

import (
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL9001 finds nodes whose agent did not answer, or could not read everything.
var PL9001 = &Detector{
	Code: finding.PL9001, Title: "Plumbline cannot read this node", Severity: finding.Info, Class: finding.Now,
	Each:       []model.Table{model.Nodes},
	Needs:      []model.Table{model.Nodes},
	Uses:       []model.Table{model.Pods, model.PodPhase, model.PodNode, model.Endpoints, model.CNIConfigs},
	ShadowedBy: []finding.Code{finding.PL4009},
	Since:      "0.2", Run: notRead,
}

func notRead(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	if !p.Agents() || n.OS == "windows" {
		return // no agent is expected there
	}
	var lost []string
	anything := false
	for _, t := range model.FactTables() {
		if t.Supplements() {
			continue
		}
		switch p.State(t, n.Name) {
		case model.Lost:
			lost = append(lost, t.String())
		case model.Partial:
			lost = append(lost, t.String())
			anything = true
		case model.Complete, model.NotThere:
			anything = true
		case model.Unread:
		}
	}
	if len(lost) == 0 {
		return
	}
	what := "node state not read"
	if anything {
		what = "node state not read completely (" + some(lost) + ")"
	}
	if why := whyUnread(p, n.Name); why != "" {
		what += ": " + why
	}
	p.Report(finding.Finding{
		Subject: n.Ref(), Node: n.Name, Summary: what,
		Evidence: []finding.Evidence{{Ref: n.Ref(), Says: what}},
	})
}

// whyUnread returns the first few reasons in the node's coverage.
func whyUnread(p *Pass, node string) string {
	const few = 2
	var whys []string
	all := p.Coverage()
	for i := range all {
		c := &all[i]
		if c.Node != node || c.Reason == "" || c.State != model.Lost && c.State != model.Partial {
			continue
		}
		if why := plain(c.Reason, maxReason); !slices.Contains(whys, why) {
			whys = append(whys, why)
		}
		if len(whys) == few {
			break
		}
	}
	return strings.Join(whys, "; ")
}
