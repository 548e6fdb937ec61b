package detect

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL4004 finds mounts that do not answer. Several mounts of one file system on a node
// are one finding.
var PL4004 = &Detector{
	Code: finding.PL4004, Title: "mount does not answer", Severity: finding.Error, Class: finding.Transient,
	Each:  []model.Table{model.Mounts},
	Needs: []model.Table{model.Mounts},
	Uses:  []model.Table{model.Pods, model.PodNode},
	Since: "0.2", Run: hungMounts,
}

func hungMounts(p *Pass, _ model.Table, row int32) {
	m := p.Mount(row)
	if !m.Silent {
		return
	}
	pods, gone := usersOf(p, m)
	f := finding.Finding{
		Subject: m.Ref(), Node: m.Node, Evidence: mountFacts(m), About: podRefs(pods),
		Summary: plain(m.Type, maxName) + " does not answer",
	}
	if m.Asked != "" {
		f.Summary += fmt.Sprintf(" (%s)", plain(m.Asked, maxName))
	}
	f.Summary += "; "
	switch names := podNames(pods); {
	case m.Layer != "":
		f.Summary += plain(m.Layer, maxName) + " is on it: containers cannot read their images"
	case len(names) > 0:
		f.Summary += "used by " + some(names)
	case gone > 0:
		f.Summary += "used by pods that are gone"
	default:
		f.Summary += "no pod has it mounted"
		f.Severity = finding.Warning
	}
	p.Report(f)
}
