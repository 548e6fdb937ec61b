package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// serviceSays are the kubelet's messages about failed calls to the runtime.
var serviceSays = phrases((*Parser).callFailed,
	`"RunPodSandbox from`, `RunPodSandbox from`, `"StopPodSandbox from`, `"RemovePodSandbox from`, `"ExecSync`, `"ListPodSandbox`, `"ListContainers`, `"Status from`, `"Version from`,
	`StopPodSandbox "`, `RemovePodSandbox "`, `StopContainer "`, `ExecSync `, `ListPodSandbox with`, `ListContainers with`, `Status from`, `Version from`)

// failedCalls are the calls that name a sandbox or a container, and what their failure is.
var failedCalls = map[string]timeline.Kind{
	"StopPodSandbox": timeline.SandboxStopFailed, "RemovePodSandbox": timeline.SandboxRemoveFailed,
	"StopContainer": timeline.ContainerKillFailed, "ExecSync": timeline.ExecFailed,
}

// callFailed reads `StopPodSandbox "ID" from runtime service failed: …` and
// `"StopPodSandbox from runtime service failed" err="…" podSandboxID="ID"`.
func (t *Parser) callFailed(r *records.Record) {
	verb, rest, _ := bytes.Cut(bytes.TrimPrefix(r.Text, []byte{'"'}), []byte{' '})
	words := failure(r.Text)
	if string(verb) == "RunPodSandbox" {
		t.notRun(r, words)
		return
	}
	e := timeline.Event{Kind: failedCalls[string(verb)], Note: note(words)}
	of := func(name string) string {
		if r.Text[0] == '"' {
			return containerID(field(r.Text, name))
		}
		return containerID(rest)
	}
	switch e.Kind {
	case timeline.SandboxStopFailed, timeline.SandboxRemoveFailed:
		e.Sandbox = of("podSandboxID")
		if pod, ok := between(words, `teardown pod "`, `"`); ok {
			e.Pod, _ = oldPod(pod)
		}
	case timeline.ContainerKillFailed, timeline.ExecFailed:
		e.Container = of("containerID")
	default:
		if !late(words) {
			return
		}
		e.Kind = timeline.RuntimeTimeout
	}
	t.fromKubelet(r, e)
}

// notRun reads why the runtime made no sandbox. The line names the sandbox, and no pod.
func (t *Parser) notRun(r *records.Record, words []byte) {
	e := timeline.Event{Kind: notCreatedBy(words), Sandbox: idAfter(words, "sandbox "), Note: note(words)}
	if of, ok := between(words, `set up pod "`, `"`); ok {
		e.Pod, _ = oldPod(of)
	}
	if e.Kind != timeline.PodSeen {
		t.fromKubelet(r, e)
	}
}

// stalled reads that the kubelet does not synchronize pods because the runtime does not answer.
// That it has not answered yet, just after a start, is not reported.
func (t *Parser) stalled(r *records.Record) {
	words := r.Text
	if len(words) > 0 && words[0] == '"' {
		words = failure(r.Text)
	}
	if late(words) || containsAny(words, "pleg was last seen active", "runtime is down") {
		t.fromKubelet(r, timeline.Event{Kind: timeline.RuntimeTimeout, Note: note(words)})
	}
}

// unmounted parses lines about volumes that a pod waits for.
func (t *Parser) unmounted(r *records.Record) {
	if words := failure(r.Text); late(words) {
		e := timeline.Event{Kind: timeline.MountTimeout, Note: note(words)}
		e.Pod, e.UID = podIn(r.Text)
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
