package parse

import (
	"bytes"
	"cmp"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// containerTold parses lines with fields about a container.
func (t *Parser) containerTold(r *records.Record) {
	e := timeline.Event{
		Kind: timeline.PodKilled, Pod: newPod(field(r.Text, "pod")),
		UID: uidOf(field(r.Text, "podUID")), Container: containerID(field(r.Text, "containerID")),
	}
	switch {
	case hasPrefix(r.Text, `"Container termination failed`):
		e.Kind = timeline.ContainerKillFailed
	case hasPrefix(r.Text, `"PreStop hook failed`):
		e.Kind = timeline.ExecFailed
	}
	if e.Kind != timeline.PodKilled {
		e.Note = note(failure(r.Text))
	}
	t.fromKubelet(r, e)
}

// containerTold2017 parses the same in the format of 2017, except failed kills, which the call to
// the runtime reports. The line about a preStop hook names a container by its name, not its ID,
// and no pod.
func (t *Parser) containerTold2017(r *records.Record) {
	e := timeline.Event{Container: idAfter(r.Text, "ontainer ")}
	switch {
	case hasPrefix(r.Text, "preStop"):
		if indexString(r.Text, "failed: ") < 0 {
			return
		}
		e.Kind, e.Note = timeline.ExecFailed, note(r.Text)
	case hasPrefix(r.Text, "Killing"):
		e.Kind = timeline.PodKilled
	default:
		return
	}
	t.fromKubelet(r, e)
}

// sandboxNamed only learns that an ID is of a sandbox: the line with the error reports the
// failure.
func (t *Parser) sandboxNamed(r *records.Record) {
	id := cmp.Or(containerID(member(r.Text, "ID")), idAfter(r.Text, "sandbox "), containerID(field(r.Text, "podSandboxID")))
	t.seen.put(id, owner{sandbox: id})
}

// notCreated reports why a sandbox could not be created.
func (t *Parser) notCreated(r *records.Record) {
	words := failure(r.Text)
	e := timeline.Event{Kind: notCreatedBy(words), Sandbox: idAfter(words, "sandbox "), Note: note(words)}
	e.Pod, e.UID = podIn(r.Text)
	if e.Pod == "" {
		if of, ok := between(words, `set up pod "`, `"`); ok {
			e.Pod, _ = oldPod(of)
		}
	}
	if e.Kind != timeline.PodSeen || e.Pod != "" {
		t.fromKubelet(r, e)
	}
}

// namespaceGone parses lines about a pause container that exited before its network was torn
// down.
func (t *Parser) namespaceGone(r *records.Record) {
	e := timeline.Event{Kind: timeline.ContainerDied, Sandbox: idAfter(r.Text, "terminated container "), Note: note(r.Text)}
	if of, ok := between(r.Text, `for pod "`, `"`); ok {
		e.Pod, _ = oldPod(of)
	}
	if e.Sandbox != "" {
		t.fromKubelet(r, e)
	}
}

// pluginTold parses lines of the kubelet's own CNI driver: until 1.12 only the error, which for
// Calico contains the workload; later NAMESPACE_NAME/SANDBOX.
func (t *Parser) pluginTold(r *records.Record) {
	text, failed := bytes.CutPrefix(r.Text, []byte("Error "))
	adds := hasPrefix(text, "adding ") || hasPrefix(text, "Adding ")
	e := timeline.Event{Kind: timeline.DelBegin}
	switch {
	case failed && adds:
		e.Kind = timeline.AddFailed
	case failed:
		e.Kind = timeline.DelFailed
	case adds:
		e.Kind = timeline.AddBegin
	}
	_, what, _ := bytes.Cut(text, []byte{' '})
	if of, rest, ok := bytes.Cut(what, []byte{'/'}); ok && turnedPod(of) != "" {
		e.Pod, e.Sandbox = turnedPod(of), containerID(rest)
	} else if !failed {
		return
	}
	if failed {
		words := failure(text)
		e.Note = note(words)
		if endpoint, ok := between(words, "WorkloadEndpoint(", ")"); ok {
			e.Object = note([]byte("WorkloadEndpoint(" + string(endpoint) + ")"))
			if w, ok := between(endpoint, "workload=", ","); ok && e.Pod == "" {
				e.Pod = podOf(w)
			}
		}
	}
	t.fromKubelet(r, e)
}
