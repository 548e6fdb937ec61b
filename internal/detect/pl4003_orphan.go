package detect

import (
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL4003 finds leftovers on a node: sandboxes without pod, containers without sandbox,
// unreadable namespace links, mounts of removed containers.
var PL4003 = &Detector{
	Code: finding.PL4003, Title: "namespace links unreadable, container without sandbox, sandbox without pod", Severity: finding.Warning, Class: finding.Teardown,
	Each:       []model.Table{model.Sandboxes, model.Containers, model.Processes, model.Mounts},
	Needs:      []model.Table{model.Pods, model.Sandboxes, model.Containers},
	Uses:       []model.Table{model.Processes, model.Mounts, model.PodNode},
	ShadowedBy: []finding.Code{finding.PL4001, finding.PL4002},
	Since:      "0.2", Run: leftBehind,
}

func leftBehind(p *Pass, t model.Table, row int32) {
	switch t {
	case model.Sandboxes:
		sandboxWithoutPod(p, p.Sandbox(row))
	case model.Containers:
		containerWithoutSandbox(p, p.Container(row))
	case model.Processes:
		linksUnreadable(p, p.Process(row))
	default:
		mountOfRemoved(p, p.Mount(row))
	}
}

// young is how long a sandbox may exist before its pod does, as that of a static pod.
const young = 10 * time.Minute

// sandboxWithoutPod reports only ready sandboxes, because the kubelet keeps exited ones for a
// while, and only those with a pod UID of Kubernetes, because people create others by hand.
func sandboxWithoutPod(p *Pass, s *model.Sandbox) {
	if !s.Ready || s.Namespace == "" || s.Pod == "" || !podUID(s.UID) || p.PodByUID(s.UID) != nil {
		return
	}
	if !s.Since.IsZero() && p.Now.Sub(s.Since) < young {
		return
	}
	p.Report(finding.Finding{
		Subject: s.Ref(), Node: s.Node, Namespace: s.Namespace,
		Summary:  fmt.Sprintf("sandbox of %s/%s is ready, but there is no such pod", plain(s.Namespace, maxName), plain(s.Pod, maxName)),
		Evidence: []finding.Evidence{sandboxFact(s), {Ref: model.Ref{Kind: model.KindPod, Name: s.Namespace + "/" + s.Pod}, Says: "no pod with uid " + plain(s.UID, maxName)}},
	})
}

// podUID reports whether a UID has the form of Kubernetes, or of the hash of a static pod's
// manifest. With `crictl runp` the UID is free text.
func podUID(uid string) bool {
	const dashed, hash = 36, 32
	bare := strings.ReplaceAll(uid, "-", "")
	hex := strings.Trim(bare, "0123456789abcdef") == ""
	return hex && len(bare) == hash && (len(uid) == dashed || len(uid) == hash)
}

// containerWithoutSandbox: the pause process exited first, or the sandbox was removed.
func containerWithoutSandbox(p *Pass, c *model.Container) {
	if c.State != "running" || c.Sandbox == "" {
		return
	}
	s := p.SandboxNamed(c.Node, c.Sandbox)
	if s != nil && (s.Ready || !podUID(s.UID)) {
		return
	}
	f := finding.Finding{Subject: c.Ref(), Node: c.Node, Evidence: []finding.Evidence{containerFact(c)}}
	if s == nil {
		f.Summary = fmt.Sprintf("container %s is running, but its sandbox %s is gone", plain(c.Name, maxName), first8(c.Sandbox))
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: model.Ref{Kind: model.KindSandbox, Name: c.Node + "/" + c.Sandbox}, Says: "no such sandbox"})
		for pr := range p.ProcessesIn(c.Node, c.ID) {
			if pod := podOfProcess(p, pr); pod != nil {
				f.Namespace, f.About = pod.Namespace, append(f.About, pod.Ref())
			}
		}
	} else {
		if pod := p.PodByUID(s.UID); pod != nil && p.Now <= pod.Deleted {
			return // within its termination grace period
		}
		f.Namespace = s.Namespace
		f.Summary = fmt.Sprintf("container %s of %s/%s is running, but its sandbox %s is not", plain(c.Name, maxName), plain(s.Namespace, maxName), plain(s.Pod, maxName), first8(c.Sandbox))
		f.Evidence = append(f.Evidence, sandboxFact(s))
		if pod := podOn(p, s.Node, s.UID); pod != nil {
			f.About = append(f.About, pod.Ref())
		}
	}
	p.Report(f)
}

// linksUnreadable: no tool can enter the container, or stop it in the normal way.
func linksUnreadable(p *Pass, pr *model.Process) {
	if pr.NSLinks == "" || !cannotEnd(pr) || pr.Container == "" && pr.PodUID == "" {
		return
	}
	f := finding.Finding{
		Subject: pr.Ref(), Node: pr.Node, Summary: "namespace links of " + named(pr) + " cannot be read",
		Evidence: []finding.Evidence{{Ref: pr.Ref(), Says: "namespace links: " + plain(pr.NSLinks, maxReason), Since: pr.Since}},
	}
	if pod := podOfProcess(p, pr); pod != nil {
		f.Namespace, f.About = pod.Namespace, []model.Ref{pod.Ref()}
		f.Summary += "; pod " + pod.Namespace + "/" + pod.Name
	}
	p.Report(f)
}

// mountOfRemoved: a process that started while the container or pod was running has a copy
// of its mount and keeps it.
func mountOfRemoved(p *Pass, m *model.Mount) {
	if m.Dead == "" || p.PodByUID(m.Dead) != nil {
		return
	}
	f := finding.Finding{
		Subject: model.Ref{Kind: model.KindContainer, Name: m.Node + "/" + m.Dead}, Node: m.Node,
		Summary:  fmt.Sprintf("is gone, but its mount at %s is held", plain(m.Target, maxName)),
		Evidence: []finding.Evidence{{Ref: m.Ref(), Says: fmt.Sprintf("%s at %s, of %s, which is gone", plain(m.Type, maxName), plain(m.Target, 2*maxName), first8(m.Dead)), Since: m.Since}},
		About:    []model.Ref{m.Ref()},
	}
	if c := p.ContainerNamed(m.Node, m.Dead); c != nil && c.State == "exited" {
		f.Summary = fmt.Sprintf("container %s has ended and the runtime cannot remove it: its mount at %s is held", plain(c.Name, maxName), plain(m.Target, maxName))
		f.Evidence[0].Says = fmt.Sprintf("%s at %s, of %s", plain(m.Type, maxName), plain(m.Target, 2*maxName), first8(m.Dead))
		f.Evidence = append(f.Evidence, containerFact(c))
	}
	const few = 4
	for i, h := range m.HeldBy[:min(few, len(m.HeldBy))] {
		who := fmt.Sprintf("%s (%d)", plain(h.Name, maxName), h.PID)
		if pod := podOn(p, m.Node, h.PodUID); pod != nil {
			who += " of " + pod.Namespace + "/" + pod.Name
		}
		if i == 0 {
			f.Summary += " by " + who
		}
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: model.Ref{Kind: model.KindProcess, Name: fmt.Sprintf("%s/%d", m.Node, h.PID)}, Says: "holds it: " + who, Since: m.Since})
	}
	p.Report(f)
}
