package detect

import (
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL5006 finds nodes on which kube-proxy does not work: their pods do not reach Services, or those
// of before.
var PL5006 = &Detector{
	Code: finding.PL5006, Title: "kube-proxy does not work: Services are not reachable from the node, or as they were", Severity: finding.Error, Class: finding.Kernel,
	Each:       []model.Table{model.Nodes},
	Needs:      []model.Table{model.Nodes, model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Links, model.Machines},
	Uses:       []model.Table{model.Proxies, model.Firewall},
	ShadowedBy: []finding.Code{finding.PL4009},
	Applies:    kernelIsCalicos, Since: "0.3", Run: proxyFails,
}

// What is said of nodes whose Services are not judged.
const (
	noProxy     = "kube-proxy was not checked"
	elsewhere   = "kube-proxy does not report its health at port 10256"
	otherProxy  = "no kube-proxy was found, and none of its rules: Services are not judged"
	embedded    = "no process of kube-proxy was found, although its rules are there: whether it follows is not known"
	byIPVS      = "rules of IPVS are not read"
	legacyProxy = "rules of iptables-legacy are not read: whether kube-proxy's are there is not known"
	bpfServices = "the eBPF data plane has the Services, whose maps are not read,"
)

// idle are the states in which kube-proxy does not follow the Services.
var idle = map[string]string{
	"stopped":   "kube-proxy is stopped",
	"no answer": "kube-proxy does not answer",
	"not ready": "kube-proxy reports that it does not follow",
}

func proxyFails(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	m := p.MachineOf(n.Name)
	if n.OS == "windows" || n.Virtual() || m == nil || m.Uptime < settledBoot {
		return
	}
	k := p.ProxyOf(n.Name)
	switch {
	case eBPF(p, n.Name):
		p.untold[bpfServices] = append(p.untold[bpfServices], n.Name)
		return
	case k == nil || !p.Sees(n.Name, model.Proxies):
		p.untold[noProxy] = append(p.untold[noProxy], n.Name)
		return
	case k.State == "runs":
		p.untold[elsewhere] = append(p.untold[elsewhere], n.Name)
	}
	if says := idle[k.State]; says != "" {
		reportProxy(p, n, finding.Error, says+": Services are as they were", finding.Evidence{Ref: m.Ref(), Says: says, Since: k.Since})
		return
	}
	if severity, says := proxyRules(p, n, k); says != "" {
		reportProxy(p, n, severity, says, finding.Evidence{Ref: m.Ref(), Says: says}) // nothing tells when rules went
	}
}

// proxyRules says, with how bad it is, that the rules by which Services are reached are missing, or that nobody follows
// them; nothing if they are there, or cannot be told.
func proxyRules(p *Pass, n *model.Node, k *model.Proxy) (finding.Severity, string) {
	if !p.Sees(n.Name, model.Firewall) {
		p.untold[noFirewall] = append(p.untold[noFirewall], n.Name)
		return "", ""
	}
	ipvs := p.LinkNamed(n.Name, "kube-ipvs0") != nil
	severity := finding.Error
	if leads, _ := servicesIn(p.ChainsOn(n.Name), false); leads { // a cluster may have no Service with an IPv6 address, which is not read
		severity = finding.Warning
	}
	for _, six := range families(p, n) {
		leads, legacy := servicesIn(p.ChainsOn(n.Name), six)
		switch {
		case k.State == "not running" && leads && hasProxyPod(p, n):
			return finding.Error, "kube-proxy does not run, and its rules are there: Services are as they were"
		case leads && (k.State == "not running" || k.State == "unknown"):
			p.untold[embedded] = append(p.untold[embedded], n.Name)
		case leads:
		case legacy:
			p.untold[legacyProxy] = append(p.untold[legacyProxy], n.Name)
		case ipvs:
			p.untold[byIPVS] = append(p.untold[byIPVS], n.Name)
		case !k.Process:
			p.untold[otherProxy] = append(p.untold[otherProxy], n.Name)
		default:
			return severity, "kube-proxy runs, and none of its rules is there for " + family(!six) + ": no " + family(!six) + " Service is reachable"
		}
	}
	return "", ""
}

// hasProxyPod reports whether kube-proxy should run on the node as a pod, as kubeadm has it.
func hasProxyPod(p *Pass, n *model.Node) bool {
	for pod := range p.PodsOn(n.Name) {
		if pod.HostNetwork && pod.Owner == "DaemonSet/kube-proxy" && pod.Deleted.IsZero() {
			return true
		}
	}
	return false
}

// servicesIn reports whether packets that arrive get to kube-proxy's chain of Services, and whether
// they may in tables that are not read.
func servicesIn(chains []model.Chain, six bool) (leads, legacy bool) {
	for i := range chains {
		c := &chains[i]
		switch {
		case c.Family != "inet" && c.Family == "ip6" != six:
		case c.Legacy:
			legacy = legacy || c.Table == "nat"
		case c.Hook == "prerouting":
			leads = leads || c.More || slices.ContainsFunc(c.Rules, toServices)
		}
	}
	return leads, legacy
}

// toServices reports whether a rule leads to kube-proxy's chain of Services, as iptables or nf_tables
// have it.
func toServices(r model.ChainRule) bool {
	return r.Does == "jump KUBE-SERVICES" || r.Does == "jump services"
}

// families are those of the running pods of a node, by whether they are IPv6; IPv4 first.
func families(p *Pass, n *model.Node) (out []bool) {
	has := map[bool]bool{}
	for pod := range p.PodsOn(n.Name) {
		if !pod.Networked() || pod.Phase != model.Running {
			continue
		}
		for _, ip := range pod.IPs {
			has[ip.Is6()] = true
		}
	}
	for _, six := range []bool{false, true} {
		if has[six] {
			out = append(out, six)
		}
	}
	return out
}

func reportProxy(p *Pass, n *model.Node, severity finding.Severity, says string, e finding.Evidence) {
	f := finding.Finding{Subject: n.Ref(), Node: n.Name, Severity: severity, Summary: says, Evidence: []finding.Evidence{e}}
	for pod := range p.PodsOn(n.Name) {
		if pod.Networked() && pod.Phase == model.Running {
			f.About = append(f.About, pod.Ref())
		}
	}
	p.Report(f)
}
