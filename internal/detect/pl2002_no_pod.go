package detect

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL2002 finds endpoints without a pod, or on another node than their pod.
var PL2002 = &Detector{
	Code: finding.PL2002, Title: "endpoint without a pod, or on a node where its pod does not run", Severity: finding.Error, Class: finding.Teardown,
	Each:    []model.Table{model.Endpoints},
	Needs:   []model.Table{model.Endpoints, model.Pods, model.PodNode, model.Nodes, model.Hosts},
	Applies: endpointsAreObjects, Since: "0.1", Run: endpointWithoutPod,
}

func endpointWithoutPod(p *Pass, _ model.Table, row int32) {
	e := p.Endpoint(row)
	if e.Orchestrator != "k8s" || p.NodeByName(e.Node) == nil {
		return // one etcd may serve OpenStack, hosts and other clusters
	}
	f := finding.Finding{
		Subject: e.Ref(), Node: e.Node, Namespace: e.Namespace, Class: classOn(p, e.Node, finding.Teardown),
		Evidence: []finding.Evidence{endpointSays(e)},
	}
	pod := p.PodByName(e.Namespace, e.Pod)
	switch {
	case pod == nil:
		f.Summary = "its pod does not exist"
		f.Evidence = append(f.Evidence, noPod(e.Namespace, e.Pod))
	case pod.Node != "" && !p.SameNode(e.Node, pod.Node):
		f.Summary = "its pod runs on " + pod.Node
		f.Evidence = append(f.Evidence, podSays(pod))
	default:
		return
	}
	f.About = []model.Ref{{Kind: model.KindPod, Name: e.Namespace + "/" + e.Pod}}
	p.Report(f)
}
