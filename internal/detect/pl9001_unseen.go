package detect

import (
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL9001 finds nodes that were asked about themselves and did not answer, or not in full.
var PL9001 = &Detector{
	Code: "PL9001", Title: "Plumbline cannot read this node", Severity: finding.Info, Class: finding.Now,
	Each:  []model.Table{model.Nodes},
	Needs: []model.Table{model.Nodes},
	Since: "0.2", Run: notSeen,
}

func notSeen(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	if !p.Agents() || n.OS == "windows" {
		return // nothing is expected
	}
	var lost []string
	anything := false
	for _, t := range model.FactTables() {
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
	what := "not seen"
	if anything {
		what = "not seen in full (" + some(lost) + ")"
	}
	if why := whyUnseen(p, n.Name); why != "" {
		what += ": " + why
	}
	p.Report(finding.Finding{
		Subject: n.Ref(), Node: n.Name, Summary: what,
		Evidence: []finding.Evidence{{Ref: n.Ref(), Says: what}},
	})
}

// whyUnseen gives the first few reasons that were noted for a node.
func whyUnseen(p *Pass, node string) string {
	const few = 2
	var whys []string
	for i := range p.Snapshot().Coverage {
		c := &p.Snapshot().Coverage[i]
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
