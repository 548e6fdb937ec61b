package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// serviceSays are the kubelet's messages about failed calls to the runtime.
var serviceSays = []phrase{
	{`"StopPodSandbox from`, (*Parser).callFailed},
	{`"RemovePodSandbox from`, (*Parser).callFailed},
	{`"ExecSync`, (*Parser).callFailed},
	{`"ListPodSandbox`, (*Parser).callFailed},
	{`"ListContainers`, (*Parser).callFailed},
	{`"Status from`, (*Parser).callFailed},
	{`"Version from`, (*Parser).callFailed},
	{`StopPodSandbox "`, (*Parser).callFailed},
	{`RemovePodSandbox "`, (*Parser).callFailed},
	{`StopContainer "`, (*Parser).callFailed},
	{`ExecSync `, (*Parser).callFailed},
	{`ListPodSandbox with`, (*Parser).callFailed},
	{`ListContainers with`, (*Parser).callFailed},
	{`Status from`, (*Parser).callFailed},
	{`Version from`, (*Parser).callFailed},
}

// callFailed reads `StopPodSandbox "ID" from runtime service failed: …` and
// `"StopPodSandbox from runtime service failed" err="…" podSandboxID="ID"`.
func (t *Parser) callFailed(r *records.Record) {
	verb, rest, _ := bytes.Cut(bytes.TrimPrefix(r.Text, []byte{'"'}), []byte{' '})
	words := failure(r.Text)
	e := timeline.Event{Note: note(words)}
	of := rest // where the ID is
	if r.Text[0] == '"' {
		of = nil
	}
	switch string(verb) {
	case "StopPodSandbox", "RemovePodSandbox":
		e.Kind = timeline.SandboxStopFailed
		if verb[0] == 'R' {
			e.Kind = timeline.SandboxRemoveFailed
		}
		if of == nil {
			of = field(r.Text, "podSandboxID")
		}
		e.Sandbox = containerID(of)
		if pod, ok := between(words, `teardown pod "`, `"`); ok {
			e.Pod, _ = oldPod(pod)
		}
	case "StopContainer", "ExecSync":
		e.Kind = timeline.ContainerKillFailed
		if verb[0] == 'E' {
			e.Kind = timeline.ExecFailed
		}
		if of == nil {
			of = field(r.Text, "containerID")
		}
		e.Container = containerID(of)
	default:
		if !late(words) {
			return
		}
		e.Kind = timeline.RuntimeTimeout
	}
	t.fromKubelet(r, e)
}

// stalled reads that the kubelet does not synchronize pods because the runtime does not answer.
// That it has not answered yet, just after a start, is not reported.
func (t *Parser) stalled(r *records.Record) {
	words := r.Text
	if len(words) > 0 && words[0] == '"' {
		words = failure(r.Text)
	}
	if late(words) || indexString(words, "pleg was last seen active") >= 0 || indexString(words, "runtime is down") >= 0 {
		t.fromKubelet(r, timeline.Event{Kind: timeline.RuntimeTimeout, Note: note(words)})
	}
}

// unmounted parses lines about volumes that a pod waits for.
func (t *Parser) unmounted(r *records.Record) {
	e := timeline.Event{Kind: timeline.MountTimeout, Pod: newPod(field(r.Text, "pod"))}
	if of, ok := between(r.Text, `for pod "`, `"`); ok && r.Text[0] != '"' {
		e.Pod, e.UID = oldPod(of)
	}
	words := failure(r.Text)
	if late(words) {
		e.Note = note(words)
		t.fromKubelet(r, e)
	}
}

// volumeFailed parses lines about a volume that could not be mounted in time, or not unmounted.
func (t *Parser) volumeFailed(r *records.Record) {
	_, words, ok := bytes.Cut(r.Text, []byte("Error: "))
	if !ok {
		return
	}
	words = unescaped(words)
	e := timeline.Event{Note: note(words)}
	switch {
	case indexString(words, "device or resource busy") >= 0:
		e.Kind = timeline.MountBusy
	case late(words):
		e.Kind = timeline.MountTimeout
	default:
		return
	}
	if volume, ok := between(words, `for volume "`, `"`); ok {
		e.Object = note(volume)
	}
	if uid, ok := between(words, `(UID: "`, `"`); ok {
		e.UID = uidOf(uid)
	}
	t.fromKubelet(r, e)
}
