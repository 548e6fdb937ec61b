package detect

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL4002 finds container processes that cannot end.
var PL4002 = &Detector{
	Code: finding.PL4002, Title: "container's process is a zombie or cannot be killed", Severity: finding.Warning, Class: finding.Transient,
	Each:       []model.Table{model.Processes},
	Needs:      []model.Table{model.Processes},
	Uses:       []model.Table{model.Pods, model.PodNode, model.Mounts, model.Containers, model.Sandboxes},
	ShadowedBy: []finding.Code{finding.PL4001, finding.PL4004},
	Since:      "0.2", Run: unkillable,
}

func unkillable(p *Pass, _ model.Table, row int32) {
	pr := p.Process(row)
	if !cannotEnd(pr) || pr.Container == "" && pr.PodUID == "" && !pr.Init {
		return
	}
	f := finding.Finding{Subject: pr.Ref(), Node: pr.Node, Summary: plain(pr.Name, maxName) + ": " + condition(pr), Evidence: processFacts(pr)}
	if t, stuck := hangs(pr); stuck && t.Waits != "" {
		f.Summary += ", waits in " + plain(t.Waits, maxName)
	}
	if c := p.ContainerNamed(pr.Node, pr.Container); pr.Container != "" && c != nil {
		f.About = append(f.About, c.Ref())
	}
	if pod := podOfProcess(p, pr); pod != nil {
		f.Namespace = pod.Namespace
		f.Summary += "; pod " + pod.Namespace + "/" + pod.Name
		f.About = append(f.About, pod.Ref())
		if m := hungMount(p, pod, identities(pod), pr); m != nil && hung(pr) {
			f.About = append(f.About, m.Ref())
		}
	}
	p.Report(f)
}

// podOfProcess finds the pod of a process by its cgroup, or by its container.
func podOfProcess(p *Pass, pr *model.Process) *model.Pod {
	if pr.PodUID != "" {
		return podOn(p, pr.Node, pr.PodUID)
	}
	c := p.ContainerNamed(pr.Node, pr.Container)
	if pr.Container == "" || c == nil {
		return nil
	}
	if s := p.SandboxNamed(c.Node, c.Sandbox); s != nil {
		return podOn(p, s.Node, s.UID)
	}
	return nil
}
