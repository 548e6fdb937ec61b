package detect

import (
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL4001 finds deleted pods that do not terminate, and the deepest cause: pod, finalizer,
// node, container, process, kernel function, mount, server.
var PL4001 = &Detector{
	Code: finding.PL4001, Title: "pod stuck in Terminating", Severity: finding.Error, Class: finding.Now,
	Each:  []model.Table{model.Pods},
	Needs: []model.Table{model.Pods, model.PodNode, model.Nodes},
	Uses:  []model.Table{model.Sandboxes, model.Containers, model.Processes, model.Mounts, model.Events},
	Since: "0.2", Run: stuckTerminating,
}

// overdue is how long a pod may take after its termination grace period.
const overdue = 5 * time.Minute

func stuckTerminating(p *Pass, _ model.Table, row int32) {
	pod := p.Pod(row)
	if pod.Deleted.IsZero() || p.Now.Sub(pod.Deleted) <= overdue {
		return // deletionTimestamp includes the termination grace period
	}
	f := finding.Finding{
		Subject: pod.Ref(), Node: pod.Node, Namespace: pod.Namespace,
		Evidence: []finding.Evidence{{Ref: pod.Ref(), Says: "deletionTimestamp " + pod.Deleted.String(), Revision: pod.Revision, Since: pod.Deleted}},
	}
	if len(pod.Finalizers) > 0 {
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: pod.Ref(), Says: "has " + finalizers(pod), Revision: pod.Revision, Since: pod.Deleted})
	}
	node := p.NodeByName(pod.Node)
	switch {
	case node == nil && pod.Node != "":
		f.Evidence = append(f.Evidence, noNode(pod.Node))
	case node != nil && !node.Ready:
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: node.Ref(), Says: "not ready", Revision: node.Revision, Since: node.Changed})
	}
	h := holdOf(p, pod)
	below, about := h.facts(p)
	f.Evidence, f.About = append(f.Evidence, below...), about
	del := failedDel(p, pod)
	if del != nil {
		f.Evidence = append(f.Evidence, delFact(del, del.Ref()))
	}
	f.Summary, f.Severity, f.Class = verdict(p, pod, node, &h, del)
	p.Report(f)
}

// verdict describes the deepest cause that was found. If only the node could confirm it and
// the node is not ready, the finding stays unconfirmed. A finalizer is a warning only.
func verdict(p *Pass, pod *model.Pod, node *model.Node, h *hold, del *model.Event) (string, finding.Severity, finding.Class) {
	if says := stuckIn(h); says != "" {
		return "cannot terminate: " + says, finding.Error, finding.Now
	}
	switch {
	case node == nil && pod.Node != "":
		return "cannot terminate: no such node: " + pod.Node, finding.Warning, finding.Now
	case node != nil && !node.Ready && h.container != nil:
		return fmt.Sprintf("cannot terminate: its node %s is not ready, and container %s still runs", node.Name, plain(h.container.Name, maxName)), finding.Error, finding.Now
	case node != nil && !node.Ready:
		return fmt.Sprintf("cannot terminate: its node %s is not ready", node.Name), finding.Warning, finding.Node
	case del != nil:
		return "cannot terminate: its CNI DEL fails: " + delReason(del.Message), finding.Error, finding.Now
	case h.container != nil:
		return fmt.Sprintf("cannot terminate: container %s still runs", plain(h.container.Name, maxName)), finding.Error, finding.Now
	case len(pod.Finalizers) > 0:
		return "cannot terminate: has " + finalizers(pod), finding.Warning, finding.Now
	case p.Sees(pod.Node, model.Sandboxes, model.Containers, model.Processes):
		return fmt.Sprintf("nothing of it runs on %s, but the kubelet has not reported this", pod.Node), finding.Error, finding.Now
	default:
		return fmt.Sprintf("has not terminated; cause unknown, node state of %s was not read", orDash(pod.Node)), finding.Error, finding.Now
	}
}

// stuckIn names the process or the mount that blocks the pod, or nothing.
func stuckIn(h *hold) string {
	switch {
	case h.process != nil && h.mount != nil:
		return fmt.Sprintf("%s waits for %s, which does not answer%s", named(h.process), mounted(h.mount), alsoHeld(h))
	case h.process != nil:
		return fmt.Sprintf("%s: %s", named(h.process), condition(h.process))
	case h.mount != nil:
		return fmt.Sprintf("its mount %s does not answer%s", mounted(h.mount), alsoHeld(h))
	}
	return ""
}

func alsoHeld(h *hold) string {
	switch n := len(h.others); n {
	case 0:
		return ""
	case 1:
		return "; 1 other pod uses it"
	default:
		return fmt.Sprintf("; %d other pods use it", n)
	}
}

func finalizers(pod *model.Pod) string {
	var names []string
	for _, f := range pod.Finalizers {
		names = append(names, plain(f, maxName))
	}
	if len(names) == 1 {
		return "finalizer " + names[0]
	}
	return "finalizers " + strings.TrimSpace(some(names))
}
