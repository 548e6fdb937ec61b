package detect

import (
	"cmp"
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL4005 finds container runtimes that do not answer, or answer slowly.
var PL4005 = &Detector{
	Code: finding.PL4005, Title: "container runtime is slow or does not answer", Severity: finding.Error, Class: finding.Transient,
	Each:  []model.Table{model.Nodes},
	Needs: []model.Table{model.Nodes, model.Runtimes},
	Since: "0.2", Run: slowRuntime,
}

// late is the response time, in milliseconds, that a healthy runtime meets even under load.
const late = 2000

// slowRuntime: the evidence is only that the runtime does not answer, or is slow; call and
// error differ from read to read.
func slowRuntime(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	name := "runtime"
	for r := range p.RuntimesOn(n.Name) {
		if r.Name != "" {
			name = plain(r.Name, maxName)
		}
	}
	f := finding.Finding{Subject: model.Ref{Kind: model.KindRuntime, Name: n.Name + "/runtime"}, Node: n.Name, About: []model.Ref{n.Ref()}}
	if worst := worstCall(p, n.Name, func(r *model.Runtime) bool { return r.Error != "" }); worst != nil {
		f.Severity = finding.Error
		f.Summary = fmt.Sprintf("%s fails on %s: %s", name, cmp.Or(plain(worst.Call, maxName), "a call"), plain(worst.Error, maxReason))
		f.Evidence = []finding.Evidence{{Ref: f.Subject, Says: "does not answer", Since: worst.Since}}
		p.Report(f)
	} else if worst := worstCall(p, n.Name, func(r *model.Runtime) bool { return r.Millis > late }); worst != nil {
		f.Severity = finding.Warning
		f.Summary = fmt.Sprintf("%s takes more than %d s for %s", name, late/1000, plain(worst.Call, maxName))
		f.Evidence = []finding.Evidence{{Ref: f.Subject, Says: "slow", Since: worst.Since}}
		p.Report(f)
	}
}

// worstCall returns the call for which is has been true longest: this is the runtime's Since.
func worstCall(p *Pass, node string, is func(*model.Runtime) bool) *model.Runtime {
	var worst *model.Runtime
	for r := range p.RuntimesOn(node) {
		if is(r) && (worst == nil || !r.Since.IsZero() && (worst.Since.IsZero() || r.Since < worst.Since)) {
			worst = r
		}
	}
	return worst
}
