package tell

import (
	"bytes"

	"plumbline.dev/plumbline/internal/forensics"
	"plumbline.dev/plumbline/internal/forensics/read"
)

// eventReasons are the reasons of Kubernetes Events that matter whatever their message is.
var eventReasons = map[string]forensics.Kind{
	"Killing":                forensics.PodKilled,
	"FailedKillPod":          forensics.PodKillFailed,
	"ExceededGracePeriod":    forensics.PodKillFailed,
	"FailedPreStopHook":      forensics.ExecFailed,
	"FailedCreatePodSandBox": forensics.PodSeen,
	"SandboxChanged":         forensics.PodSeen,
	"Scheduled":              forensics.PodSeen,
	"Started":                forensics.ContainerStarted,
	"TaintManagerEviction":   forensics.PodTerminating,
	"Evicted":                forensics.PodTerminating,
	"Preempted":              forensics.PodTerminating,
	"NodeNotReady":           forensics.NodeNotReady,
	"NodeReady":              forensics.NodeReady,
	"Starting":               forensics.KubeletStarted,
	"FailedMount":            forensics.MountTimeout,
	"FailedAttachVolume":     forensics.MountTimeout,
}

// happened tells a Kubernetes Event, of a table or of JSON.
func (t *Teller) happened(r *read.Record, e forensics.Event, reason string, words []byte) {
	e.Kind = eventReasons[reason]
	switch reason {
	case "FailedCreatePodSandBox":
		e.Sandbox = idAfter(words, "sandbox ")
		if ofNetwork(words) {
			e.Kind = forensics.AddFailed
		} else if late(words) || indexString(words, "name is reserved") >= 0 {
			e.Kind = forensics.RuntimeTimeout
		}
	case "FailedKillPod":
		e.Sandbox = idAfter(words, "sandbox ")
	case "FailedMount", "FailedAttachVolume":
		if !late(words) {
			return
		}
	case "TaintManagerEviction":
		if hasPrefix(words, "Cancelling") {
			return
		}
	case "Starting": // also of kube-proxy and others
		if indexString(words, "kubelet") < 0 {
			return
		}
	case "Scheduled":
		if _, to, ok := bytes.Cut(words, []byte(" to ")); ok {
			e.Node = nodeName(bytes.TrimSpace(to))
		}
	case "Killing":
		e.Container = idAfter(words, "with id ")
	}
	if e.Kind == forensics.Nothing {
		return
	}
	if of, ok := between(words, `in Pod "`, `"`); ok && e.Pod == "" {
		e.Pod, e.UID = oldPod(of)
	}
	e.Note = note(words)
	t.sayOf(r, "events", e)
}
