package detect

import (
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/cnierror"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL4006 finds CNI DELs that fail and are retried without success. Calico before 2018
// executes such a late DEL on the pod that has the name by then.
var PL4006 = &Detector{
	Code: finding.PL4006, Title: "runtime retries a CNI DEL that never succeeds", Severity: finding.Warning, Class: finding.Now,
	Each:       []model.Table{model.Events, model.FailedDels},
	Needs:      []model.Table{model.Events, model.Pods, model.PodNode},
	Uses:       []model.Table{model.Sandboxes, model.FailedDels},
	ShadowedBy: []finding.Code{finding.PL4001, finding.PL4007},
	Since:      "0.2", Run: retriedDel,
}

func retriedDel(p *Pass, t model.Table, row int32) {
	if t == model.FailedDels {
		d := p.FailedDel(row)
		if e := withoutEvent(p, d); e != nil && e.Pod == "" { // the runtime does not say whose it is
			reportDel(p, e, d.Ref())
		} else if e != nil {
			reportDel(p, e, e.Ref())
		}
		return
	}
	if e := p.Event(row); delFails(p, e) {
		reportDel(p, e, e.Ref())
	}
}

func reportDel(p *Pass, e *model.Event, subject model.Ref) {
	f := finding.Finding{
		Subject: subject, Node: e.Node, Namespace: e.Namespace,
		Summary:  fmt.Sprintf("DEL of sandbox %s on %s has failed since %s", orDash(first8(cnierror.Sandbox(e.Message))), orDash(plain(e.Node, maxName)), e.First),
		Evidence: []finding.Evidence{delFact(e, subject)},
	}
	if s := p.State(model.Sandboxes, e.Node); s != model.Unread && !s.Seen() {
		f.Class = finding.Node // the runtime, which would show that it has succeeded, was not read
	}
	if v := atRisk(p, e); v != nil {
		f.Severity = finding.Error
		if e.UID != "" && v.UID != e.UID {
			f.Summary += "; at risk: the new pod of that name"
		} else {
			f.Summary += "; at risk: its newer sandbox"
		}
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: v.Ref(), Says: fmt.Sprintf("on %s under the same name, uid %s", v.Node, orDash(v.UID)), Revision: v.Revision, Since: v.Created})
	}
	f.Summary += ": " + delReason(e.Message)
	p.Report(f)
}

// How often and how long a DEL must have failed, and how recent the last attempt must be:
// the kubelet retries at least every few minutes.
const (
	delTries = 3
	delSpan  = 2 * time.Minute
	delFresh = 10 * time.Minute
)

// delFails reports whether a DEL fails repeatedly, and still does: if its sandbox is gone
// from its node, it has succeeded.
func delFails(p *Pass, e *model.Event) bool {
	if e.Count < delTries || e.Last.Sub(e.First) < delSpan || p.Now.Sub(e.Last) > delFresh || !cnierror.IsFailedDel(e.Message) {
		return false
	}
	id := cnierror.Sandbox(e.Message)
	return id == "" || e.Node == "" || !p.Sees(e.Node, model.Sandboxes) || p.SandboxNamed(e.Node, id) != nil
}

// What a node must report about a DEL: the kubelet's sandbox collector, which writes no Event,
// retries every minute, and the agent reads every 20 s.
const (
	delMinute = 50  // seconds between the first attempt and the last
	delStill  = 100 // seconds since the last: then the next one is overdue, and the DEL has succeeded
)

// withoutEvent returns what a node reports about a DEL that fails again and again, as if it were
// an event; nil if it has succeeded: then there is no newer attempt, or the sandbox is gone.
func withoutEvent(p *Pass, d *model.FailedDel) *model.Event {
	if d.Tries < 2 || d.Span < delMinute || d.Ago > delStill {
		return nil
	}
	message := d.Error
	if cnierror.Sandbox(message) != d.Sandbox {
		message = "failed to destroy network for sandbox " + d.Sandbox + ": " + message
	}
	e := &model.Event{Node: d.Node, Reason: "DEL failed", Message: message, Count: d.Tries, First: p.Now.Add(-time.Duration(d.Ago+d.Span) * time.Second), Last: p.Now}
	switch s := p.SandboxNamed(d.Node, d.Sandbox); {
	case s != nil:
		e.Namespace, e.Pod, e.UID = s.Namespace, s.Pod, s.UID
	case p.Sees(d.Node, model.Sandboxes):
		return nil
	}
	return e
}

// failedDel returns the event of a DEL that fails for the pod, or nil.
func failedDel(p *Pass, pod *model.Pod) *model.Event {
	for e := range p.EventsOf(pod.Namespace, pod.Name) {
		if (e.UID == "" || e.UID == pod.UID) && delFails(p, e) {
			return e
		}
	}
	return nil
}

// atRisk returns the pod with the name and the node of the late DEL: another pod, or the
// same one with a newer sandbox.
func atRisk(p *Pass, e *model.Event) *model.Pod {
	pod := p.PodByName(e.Namespace, e.Pod)
	if pod == nil || !pod.Deleted.IsZero() || pod.Node != e.Node || e.Node == "" {
		return nil
	}
	if e.UID != "" && pod.UID != e.UID {
		return pod
	}
	id := cnierror.Sandbox(e.Message)
	for s := range p.SandboxesOf(e.Namespace, e.Pod) {
		if id != "" && s.Node == e.Node && s.Ready && s.ID != id {
			return pod
		}
	}
	return nil
}

func delFact(e *model.Event, of model.Ref) finding.Evidence {
	return finding.Evidence{Ref: of, Says: fmt.Sprintf("%s on %s: %s", plain(e.Reason, maxName), orDash(plain(e.Node, maxName)), delReason(e.Message)), Since: e.First}
}

func delReason(message string) string { return plain(cnierror.DelReason(message), maxReason) }
