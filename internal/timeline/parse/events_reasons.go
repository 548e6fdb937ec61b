package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// eventReasons are the reasons of Kubernetes Events that are used whatever their message is.
var eventReasons = map[string]timeline.Kind{
	"Killing":                timeline.PodKilled,
	"FailedKillPod":          timeline.PodKillFailed,
	"ExceededGracePeriod":    timeline.PodKillFailed,
	"FailedPreStopHook":      timeline.ExecFailed,
	"FailedCreatePodSandBox": timeline.PodSeen,
	"SandboxChanged":         timeline.PodSeen,
	"Scheduled":              timeline.PodSeen,
	"Started":                timeline.ContainerStarted,
	"TaintManagerEviction":   timeline.PodTerminating,
	"Evicted":                timeline.PodTerminating,
	"Preempted":              timeline.PodTerminating,
	"NodeNotReady":           timeline.NodeNotReady,
	"NodeReady":              timeline.NodeReady,
	"Starting":               timeline.KubeletStarted,
	"FailedMount":            timeline.MountTimeout,
	"FailedAttachVolume":     timeline.MountTimeout,
}

// happened emits a Kubernetes Event from a table or from JSON.
func (t *Parser) happened(r *records.Record, e timeline.Event, reason string, words []byte) {
	e.Kind = eventReasons[reason]
	readMessage(&e, reason, words)
	if e.Kind == timeline.Nothing {
		return
	}
	if of, ok := between(words, `in Pod "`, `"`); ok && e.Pod == "" {
		e.Pod, e.UID = oldPod(of)
	}
	e.Note = note(words)
	t.sayOf(r, "events", e)
}

// readMessage adds what the message of a Kubernetes Event says; with some reasons, only the message
// decides whether the event counts, and as what.
func readMessage(e *timeline.Event, reason string, words []byte) {
	switch reason {
	case "FailedCreatePodSandBox":
		e.Kind, e.Sandbox = notCreatedBy(words), idAfter(words, "sandbox ")
	case "FailedKillPod":
		e.Sandbox = idAfter(words, "sandbox ")
	case "FailedMount", "FailedAttachVolume":
		if !late(words) {
			e.Kind = timeline.Nothing
		}
	case "TaintManagerEviction":
		if hasPrefix(words, "Cancelling") {
			e.Kind = timeline.Nothing
		}
	case "Starting": // also of kube-proxy and others
		if indexString(words, "kubelet") < 0 {
			e.Kind = timeline.Nothing
		}
	case "Scheduled":
		if _, to, ok := bytes.Cut(words, []byte(" to ")); ok {
			e.Node = nodeName(bytes.TrimSpace(to))
		}
	case "Killing":
		e.Container = idAfter(words, "with id ")
	}
}
