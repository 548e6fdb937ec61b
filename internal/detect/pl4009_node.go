package detect

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL4009 finds nodes that are not ready, and says what that hides.
var PL4009 = &Detector{
	Code: finding.PL4009, Title: "node is not ready", Severity: finding.Error, Class: finding.Teardown,
	Each:       []model.Table{model.Nodes},
	Needs:      []model.Table{model.Nodes, model.Pods, model.PodNode, model.PodPhase},
	ShadowedBy: []finding.Code{finding.PL5001, finding.PL4005},
	Since:      "0.3", Run: notReady,
}

func notReady(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	if n.Ready {
		return
	}
	var pods []model.Ref
	for pod := range p.PodsOn(n.Name) {
		if !pod.HostNetwork && !pod.Finished() {
			pods = append(pods, pod.Ref())
		}
	}
	what := "is not ready"
	hides := count(len(pods), "pod", "pods") + " there"
	if n.Silent {
		what = "is not ready: its kubelet does not report"
		hides = "what Kubernetes says of " + hides + " is of before"
	}
	f := finding.Finding{
		Subject: n.Ref(), Node: n.Name, About: pods,
		Summary:  what + "; " + hides,
		Evidence: []finding.Evidence{{Ref: n.Ref(), Says: what, Since: n.Changed}},
	}
	if n.Why != "" { // not in Says: it counts seconds
		f.Summary += ": " + plain(n.Why, maxReason)
	}
	if n.Cordoned() {
		f.Severity, f.Summary = finding.Warning, "cordoned and "+f.Summary
	}
	p.Report(f)
}
