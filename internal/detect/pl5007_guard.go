package detect

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL5007 finds nodes whose guard is to protect running pods, and does not for certain.
var PL5007 = &Detector{
	Code: finding.PL5007, Title: "guard is configured to enforce, and does not protect the node for certain", Severity: finding.Error, Class: finding.Kernel,
	Each:       []model.Table{model.Nodes},
	Needs:      []model.Table{model.Nodes, model.Machines},
	Uses:       []model.Table{model.Guards},
	ShadowedBy: []finding.Code{finding.PL4009},
	Since:      "0.3", Run: guardFails,
}

const noGuard = "the guard's report was not read"

func guardFails(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	m := p.MachineOf(n.Name)
	if n.OS == "windows" || n.Virtual() || m == nil || m.Uptime < settledBoot {
		return
	}
	switch s := p.State(model.Guards, n.Name); {
	case s == model.NotThere || s == model.Unread:
		return // no guard was ever there, or the agent is too old
	case !s.Seen():
		p.untold[noGuard] = append(p.untold[noGuard], n.Name)
		return
	}
	g := p.GuardOf(n.Name)
	if g == nil || g.Wanted != "enforce" {
		return
	}
	f := finding.Finding{Subject: n.Ref(), Node: n.Name, Evidence: []finding.Evidence{{
		Ref: n.Ref(), Says: fmt.Sprintf("mode %s is configured, %s is in force; Calico's plugin is %s", g.Wanted, orDash(plain(g.Mode, maxName)), orDash(plain(g.Version, maxName))), Since: g.Since,
	}}}
	switch why := plain(g.Unprotected, maxReason); {
	case why != "" && g.Mode == g.Wanted:
		f.Summary = "the guard cannot be certain that it stops late DELs: " + why
	case why != "":
		f.Summary = "the guard is not in force, late DELs reach newer pods: " + why
	case g.Silent:
		f.Summary = "the guard daemon has not reported for minutes: if Calico rewrites its CNI configuration, the guard is gone"
		f.Severity = finding.Warning
	default:
		return
	}
	p.Report(f)
}
