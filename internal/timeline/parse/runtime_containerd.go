package parse

import (
	"bytes"
	"cmp"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

const containerd = "containerd"

// Messages of containerd's CRI plugin come in threes: the call, and that it "returns …" or
// "failed". Only the last is parsed.
var (
	returned = []byte(" returns ")
	failed   = []byte(" failed")
)

// sandboxRun reads `RunPodSandbox for &PodSandboxMetadata{Name:…,Uid:…,Namespace:…,Attempt:0,}`,
// since containerd 2 `RunPodSandbox for name:"…"  uid:"…"  namespace:"…"`, and its ends.
func (t *Parser) sandboxRun(r *records.Record) {
	e := timeline.Event{Kind: timeline.PodSeen, UID: uidOf(either(r.Text, "Uid", " uid"))}
	pod, namespace := either(r.Text, "{Name", " name"), either(r.Text, ",Namespace", " namespace")
	e.Pod = podNamed(namespace, pod)
	switch {
	case bytes.Contains(r.Text, []byte(" returns sandbox id ")):
		e.Kind, e.Sandbox = timeline.SandboxCreated, idAfter(r.Text, "returns sandbox id ")
	case bytes.Contains(r.Text, failed):
		words := reason(r)
		t.runFailed(r, e, words)
		return
	}
	if e.Pod != "" {
		t.say(r, containerd, e)
	}
}

// runFailed reports why a sandbox could not be created.
func (t *Parser) runFailed(r *records.Record, e timeline.Event, words []byte) {
	e.Sandbox, e.Note = idAfter(words, "sandbox "), note(words)
	switch {
	case ofNetwork(words):
		e.Kind = timeline.AddFailed
	case late(words):
		e.Kind = timeline.RuntimeTimeout
	}
	t.say(r, containerd, e)
}

func either(text []byte, one, other string) []byte {
	if v := member(text, one); v != nil {
		return v
	}
	return member(text, other)
}

// sandboxCall reads the ends of StopPodSandbox and RemovePodSandbox.
func (t *Parser) sandboxCall(r *records.Record) {
	e := timeline.Event{Sandbox: cmp.Or(idAfter(r.Text, "PodSandbox "), idAfter(r.Text, "PodSandbox for "))}
	removes := r.Text[0] == 'R'
	switch {
	case bytes.Contains(r.Text, returned) && removes:
		e.Kind = timeline.SandboxRemoved
	case bytes.Contains(r.Text, returned):
		e.Kind = timeline.SandboxStopped
	case !bytes.Contains(r.Text, failed):
		t.seen.put(e.Sandbox, owner{sandbox: e.Sandbox})
		return
	case removes:
		e.Kind = timeline.SandboxRemoveFailed
	default:
		e.Kind = timeline.SandboxStopFailed
	}
	if e.Kind == timeline.SandboxStopFailed || e.Kind == timeline.SandboxRemoveFailed {
		t.failedOn(r, containerd, e, reason(r))
		return
	}
	t.say(r, containerd, e)
}

// tornDown reads that a sandbox's network was torn down: its DEL succeeded. This does not show
// that its network namespace still existed.
func (t *Parser) tornDown(r *records.Record) {
	if bytes.HasSuffix(r.Text, []byte("successfully")) {
		t.say(r, containerd, timeline.Event{Kind: timeline.DelEnd, Sandbox: idAfter(r.Text, "for sandbox ")})
	}
}

// networkKept parses a DEL that failed after an ADD that failed.
func (t *Parser) networkKept(r *records.Record) {
	t.say(r, containerd, timeline.Event{Kind: timeline.DelFailed, Sandbox: idAfter(r.Text, "for sandbox "), Note: note(reason(r))})
}

// containerCreated learns the sandbox of a container.
func (t *Parser) containerCreated(r *records.Record) {
	sandbox := idAfter(r.Text, "within sandbox ")
	w := t.seen.known[sandbox]
	w.sandbox = sandbox
	t.seen.put(idAfter(r.Text, "returns container id "), w)
}

// containerCall reads the ends of calls to containers.
func (t *Parser) containerCall(r *records.Record) {
	e := timeline.Event{Container: idAfter(r.Text, " for ")}
	switch {
	case hasPrefix(r.Text, "StartContainer"):
		if !bytes.Contains(r.Text, returned) {
			return
		}
		e.Kind = timeline.ContainerStarted
	case !bytes.Contains(r.Text, failed):
		return
	case hasPrefix(r.Text, "ExecSync"):
		e.Kind = timeline.ExecFailed
	default:
		e.Kind = timeline.ContainerKillFailed
	}
	if e.Kind != timeline.ContainerStarted {
		e.Note = note(reason(r))
	}
	t.say(r, containerd, e)
}

// shimGone reads that the shim of a container exited.
func (t *Parser) shimGone(r *records.Record) {
	if id := containerID(field(r.Fields, "id")); id != "" {
		t.say(r, containerd, timeline.Event{Kind: timeline.ContainerDied, Container: id})
	}
}

// taskExit reads that a container's first process ended. The exit of a command that was
// run inside has another ID than the container.
func (t *Parser) taskExit(r *records.Record) {
	of, task := containerID(either(r.Text, "ContainerID", "container_id")), containerID(either(r.Text, ",ID", " id"))
	if of != "" && of == task {
		t.say(r, containerd, timeline.Event{Kind: timeline.ContainerDied, Container: of})
	}
}

func (t *Parser) containerdStarted(r *records.Record) {
	t.say(r, containerd, timeline.Event{Kind: timeline.RuntimeStarted, Note: note(field(r.Fields, "version"))})
}
