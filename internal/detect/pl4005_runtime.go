package detect

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL4005 finds container runtimes that do not answer, or answer late.
var PL4005 = &Detector{
	Code: "PL4005", Title: "container runtime slow or silent", Severity: finding.Error, Class: finding.Transient,
	Each:  []model.Table{model.Nodes},
	Needs: []model.Table{model.Nodes, model.Runtimes},
	Since: "0.2", Run: slowRuntime,
}

// late is the answer, in milliseconds, that a healthy runtime gives even under load.
const late = 2000

func slowRuntime(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	f := finding.Finding{Subject: model.Ref{Kind: model.KindRuntime, Name: n.Name + "/runtime"}, Node: n.Name, About: []model.Ref{n.Ref()}, Severity: finding.Warning}
	name := "runtime"
	for r := range p.RuntimesOn(n.Name) {
		if r.Name != "" {
			name = plain(r.Name, maxName)
		}
	}
	for r := range p.RuntimesOn(n.Name) {
		call := plain(r.Call, maxName)
		switch {
		case r.Error != "":
			if f.Severity != finding.Error {
				f.Severity = finding.Error
				f.Summary = fmt.Sprintf("%s fails on %s: %s", name, call, plain(r.Error, maxReason))
			}
			f.Evidence = append(f.Evidence, finding.Evidence{Ref: f.Subject, Says: call + ": " + plain(r.Error, maxReason), Since: r.Since})
		case r.Millis > late:
			if f.Summary == "" {
				f.Summary = fmt.Sprintf("%s takes more than %d s for %s", name, late/1000, call)
			}
			f.Evidence = append(f.Evidence, finding.Evidence{Ref: f.Subject, Says: fmt.Sprintf("%s: slower than %d s", call, late/1000), Since: r.Since})
		}
	}
	if len(f.Evidence) > 0 {
		p.Report(f)
	}
}
