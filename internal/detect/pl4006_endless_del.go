package detect

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL4006 finds network teardowns that fail and are tried again, without end. Calico
// before 2018 carried the late one out on the pod that has the name by then.
var PL4006 = &Detector{
	Code: "PL4006", Title: "runtime retries a CNI DEL that never succeeds", Severity: finding.Warning, Class: finding.Now,
	Each:       []model.Table{model.Events},
	Needs:      []model.Table{model.Events, model.Pods, model.PodNode},
	Uses:       []model.Table{model.Sandboxes},
	ShadowedBy: []finding.Code{"PL4001"},
	Since:      "0.2", Run: endlessDel,
}

func endlessDel(p *Pass, _ model.Table, row int32) {
	e := p.Event(row)
	if !delFails(p, e) {
		return
	}
	f := finding.Finding{
		Subject: e.Ref(), Node: e.Node, Namespace: e.Namespace,
		Summary:  fmt.Sprintf("DEL for sandbox %s on %s fails since %s", orDash(first8(delSandbox(e.Message))), orDash(plain(e.Node, maxName)), e.First),
		Evidence: []finding.Evidence{delFact(e)},
	}
	if v := victim(p, e); v != nil {
		f.Severity = finding.Error
		if e.UID != "" && v.UID != e.UID {
			f.Summary += "; next victim: its new pod there"
		} else {
			f.Summary += "; next victim: its newer sandbox"
		}
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: v.Ref(), Says: fmt.Sprintf("lives on %s under the same name, uid %s", v.Node, orDash(v.UID)), Revision: v.Revision, Since: v.Created})
	}
	f.Summary += ": " + delReason(e.Message)
	p.Report(f)
}

// How often and how long a DEL must have failed, and how fresh the last try must be:
// the kubelet tries again at least every few minutes.
const (
	delTries = 3
	delSpan  = 2 * time.Minute
	delFresh = 10 * time.Minute
)

// delFails tells that a DEL fails again and again, and still does: one whose sandbox is
// gone from its node has succeeded.
func delFails(p *Pass, e *model.Event) bool {
	if e.Count < delTries || e.Last.Sub(e.First) < delSpan || p.Now.Sub(e.Last) > delFresh || !delMarks.MatchString(e.Message) {
		return false
	}
	id := delSandbox(e.Message)
	return id == "" || e.Node == "" || !p.Sees(e.Node, model.Sandboxes) || p.SandboxNamed(e.Node, id) != nil
}

// failedDel gives the DEL that fails for a pod.
func failedDel(p *Pass, pod *model.Pod) *model.Event {
	for e := range p.EventsOf(pod.Namespace, pod.Name) {
		if (e.UID == "" || e.UID == pod.UID) && delFails(p, e) {
			return e
		}
	}
	return nil
}

// victim gives the pod that lives under the name and on the node of the one whose DEL
// is late: another pod, or the same one in a newer sandbox.
func victim(p *Pass, e *model.Event) *model.Pod {
	pod := p.PodByName(e.Namespace, e.Pod)
	if pod == nil || !pod.Deleted.IsZero() || pod.Node != e.Node || e.Node == "" {
		return nil
	}
	if e.UID != "" && pod.UID != e.UID {
		return pod
	}
	id := delSandbox(e.Message)
	for s := range p.SandboxesOf(e.Namespace, e.Pod) {
		if id != "" && s.Node == e.Node && s.Ready && s.ID != id {
			return pod
		}
	}
	return nil
}

// What the runtimes say when a DEL fails: containerd, CRI-O, dockershim, libcni. That a
// sandbox cannot be stopped is not enough: a process that cannot end does that as well.
var (
	delMarks = regexp.MustCompile(`destroy network for |failed to teardown pod (?:\\?"[^"]*" network)?|from CNI network|failed \(delete\)`)
	delID    = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
)

func delSandbox(message string) string { return delID.FindString(message) }

func delFact(e *model.Event) finding.Evidence {
	return finding.Evidence{Ref: e.Ref(), Says: fmt.Sprintf("%s on %s: %s", plain(e.Reason, maxName), orDash(plain(e.Node, maxName)), delReason(e.Message)), Since: e.First}
}

// delReason is the end of the message, which says why: what the kubelet and the runtime
// put before it is long and always the same.
func delReason(message string) string {
	at := delMarks.FindStringIndex(message)
	if at == nil {
		return plain(message, maxReason)
	}
	rest := message[at[1]:]
	if id := delID.FindStringIndex(rest); id != nil {
		rest = rest[id[1]:]
	}
	rest = strings.ReplaceAll(strings.TrimLeft(rest, `\": `), `\"`, `"`)
	rest = strings.TrimRight(rest, `\"] `)
	if rest == "" {
		rest = message
	}
	return plain(rest, maxReason)
}
