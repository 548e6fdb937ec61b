package detect

import (
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL4008 finds nodes on which Felix does not work: their routes and policies do not follow.
var PL4008 = &Detector{
	Code: finding.PL4008, Title: "Felix is not ready: new pods on the node are not reachable", Severity: finding.Error, Class: finding.Kernel,
	Each:       []model.Table{model.Nodes},
	Needs:      []model.Table{model.Nodes, model.Pods, model.PodNode, model.PodPhase, model.PodStatus},
	Uses:       []model.Table{model.Machines, model.CNIConfigs},
	ShadowedBy: []finding.Code{finding.PL4009},
	Since:      "0.3", Run: felixFails,
}

// noFelix is reported for nodes with pods of Calico's network and without calico-node, where other nodes have one.
const noFelix = "no pod of calico-node runs, and no agent reports whether Felix does,"

const atOdds = "Felix does not answer, although calico-node is ready"

func felixFails(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	var calico *model.Pod // of the DaemonSet
	var pods []model.Ref
	for pod := range p.PodsOn(n.Name) {
		if runsFelix(pod) {
			calico = pod
		} else if pod.Networked() && pod.Phase == model.Running {
			pods = append(pods, pod.Ref())
		}
	}
	m := p.MachineOf(n.Name)
	if n.OS == "windows" || n.Virtual() || m != nil && m.Uptime < settledBoot {
		return
	}
	f := finding.Finding{Subject: n.Ref(), Node: n.Name, About: pods}
	switch {
	case m != nil && (m.Felix == "not ready" || m.Felix == "not running") && calico != nil && calico.Ready:
		p.untold[atOdds] = append(p.untold[atOdds], n.Name)
		return
	case m != nil && m.Felix == "not ready":
		f.Summary = "Felix is not ready"
	case m != nil && m.Felix == "not running" && len(pods) > 0 && p.CNISetupOn(n.Name).Calicos != nil:
		f.Summary = "Felix does not run"
	case calico != nil && !calico.Ready && calico.Deleted.IsZero():
		f.Summary = "calico-node is not ready"
	case m == nil && calico == nil && len(pods) > 0 && nodesHaveCalico(p):
		p.untold[noFelix] = append(p.untold[noFelix], n.Name)
		return
	default:
		return
	}
	if m != nil && m.Felix == "ready" { // it is BIRD, which explains nothing about pods of this node
		f.Summary += ", although Felix is: routes of BGP may be missing"
		f.Severity, f.About = finding.Warning, nil
	} else {
		f.Summary += fmt.Sprintf(": routes and policies of %s there are of before", count(len(pods), "pod", "pods"))
	}
	if n.Cordoned() {
		f.Severity = finding.Warning
	}
	if m != nil {
		f.Evidence = append(f.Evidence, machineSays(m))
	}
	if calico != nil {
		f.About = append(f.About, calico.Ref())
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: calico.Ref(), Says: fmt.Sprintf("%s, ready %t", calico.Phase, calico.Ready), Since: calico.Written})
	}
	p.Report(f)
}

// nodesHaveCalico reports whether Felix runs as a pod on other nodes, and Calico makes the network of pods.
func nodesHaveCalico(p *Pass) bool {
	if p.felix == nil {
		found := false
		for i := range int32(p.Rows(model.Pods)) {
			found = found || runsFelix(p.Pod(i))
		}
		p.felix = &found
	}
	return *p.felix && networkIsCalicos(p.Calico) == Yes
}

// runsFelix reports whether a pod is calico-node, by whatever name distributions give it.
func runsFelix(pod *model.Pod) bool {
	if !pod.HostNetwork || pod.Finished() {
		return false
	}
	name, ok := strings.CutPrefix(pod.Owner, "DaemonSet/")
	return ok && (strings.HasPrefix(name, "calico-node") || name == "canal" || name == "rke2-canal")
}
