package tell

import (
	"bytes"

	"plumbline.dev/plumbline/internal/forensics"
	"plumbline.dev/plumbline/internal/forensics/read"
)

const containerd = "containerd"

// Messages of containerd's CRI plugin come in threes: the call, and that it "returns …" or
// "failed". The call alone tells nothing that its end does not tell better.
var (
	returned = []byte(" returns ")
	failed   = []byte(" failed")
)

// sandboxRun reads `RunPodSandbox for &PodSandboxMetadata{Name:…,Uid:…,Namespace:…,Attempt:0,}`,
// since containerd 2 `RunPodSandbox for name:"…"  uid:"…"  namespace:"…"`, and its ends.
func (t *Teller) sandboxRun(r *read.Record) {
	e := forensics.Event{Kind: forensics.PodSeen, UID: uidOf(either(r.Text, "Uid", " uid"))}
	pod, namespace := either(r.Text, "{Name", " name"), either(r.Text, ",Namespace", " namespace")
	e.Pod = newPod(append(append(bytes.Clone(namespace), '/'), pod...))
	switch {
	case bytes.Contains(r.Text, []byte(" returns sandbox id ")):
		e.Kind, e.Sandbox = forensics.SandboxCreated, idAfter(r.Text, "returns sandbox id ")
	case bytes.Contains(r.Text, failed):
		words := reason(r)
		t.runFailed(r, e, words)
		return
	}
	if e.Pod != "" {
		t.say(r, containerd, e)
	}
}

// runFailed says what a sandbox failed on.
func (t *Teller) runFailed(r *read.Record, e forensics.Event, words []byte) {
	e.Sandbox, e.Note = idAfter(words, "sandbox "), note(words)
	switch {
	case ofNetwork(words):
		e.Kind = forensics.AddFailed
	case late(words):
		e.Kind = forensics.RuntimeTimeout
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
func (t *Teller) sandboxCall(r *read.Record) {
	e := forensics.Event{Sandbox: idAfter(r.Text, "PodSandbox ")}
	if e.Sandbox == "" {
		e.Sandbox = idAfter(r.Text, "PodSandbox for ")
	}
	removes := r.Text[0] == 'R'
	switch {
	case bytes.Contains(r.Text, returned) && removes:
		e.Kind = forensics.SandboxRemoved
	case bytes.Contains(r.Text, returned):
		e.Kind = forensics.SandboxStopped
	case !bytes.Contains(r.Text, failed):
		t.seen.put(e.Sandbox, owner{sandbox: e.Sandbox})
		return
	case removes:
		e.Kind = forensics.SandboxRemoveFailed
	default:
		e.Kind = forensics.SandboxStopFailed
	}
	if e.Kind == forensics.SandboxStopFailed || e.Kind == forensics.SandboxRemoveFailed {
		t.failedOn(r, containerd, e, reason(r))
		return
	}
	t.say(r, containerd, e)
}

// tornDown reads that a sandbox's network was taken down: its DEL succeeded. That a
// namespace was there does not follow.
func (t *Teller) tornDown(r *read.Record) {
	if bytes.HasSuffix(r.Text, []byte("successfully")) {
		t.say(r, containerd, forensics.Event{Kind: forensics.DelEnd, Sandbox: idAfter(r.Text, "for sandbox ")})
	}
}

// networkKept reads of a DEL that failed after an ADD that failed.
func (t *Teller) networkKept(r *read.Record) {
	t.say(r, containerd, forensics.Event{Kind: forensics.DelFailed, Sandbox: idAfter(r.Text, "for sandbox "), Note: note(reason(r))})
}

// containerCreated learns whose a container is.
func (t *Teller) containerCreated(r *read.Record) {
	sandbox := idAfter(r.Text, "within sandbox ")
	w := t.seen.known[sandbox]
	w.sandbox = sandbox
	t.seen.put(idAfter(r.Text, "returns container id "), w)
}

// containerCall reads the ends of calls to containers.
func (t *Teller) containerCall(r *read.Record) {
	e := forensics.Event{Container: idAfter(r.Text, " for ")}
	switch {
	case hasPrefix(r.Text, "StartContainer"):
		if !bytes.Contains(r.Text, returned) {
			return
		}
		e.Kind = forensics.ContainerStarted
	case !bytes.Contains(r.Text, failed):
		return
	case hasPrefix(r.Text, "ExecSync"):
		e.Kind = forensics.ExecFailed
	default:
		e.Kind = forensics.ContainerKillFailed
	}
	if e.Kind != forensics.ContainerStarted {
		e.Note = note(reason(r))
	}
	t.say(r, containerd, e)
}

// shimGone reads that the process above a container has gone.
func (t *Teller) shimGone(r *read.Record) {
	if id := containerID(field(r.Fields, "id")); id != "" {
		t.say(r, containerd, forensics.Event{Kind: forensics.ContainerDied, Container: id})
	}
}

// taskExit reads that a container's first process ended. The exit of a command that was
// run inside has another ID than the container.
func (t *Teller) taskExit(r *read.Record) {
	of, task := containerID(either(r.Text, "ContainerID", "container_id")), containerID(either(r.Text, ",ID", " id"))
	if of != "" && of == task {
		t.say(r, containerd, forensics.Event{Kind: forensics.ContainerDied, Container: of})
	}
}

func (t *Teller) containerdStarted(r *read.Record) {
	t.say(r, containerd, forensics.Event{Kind: forensics.RuntimeStarted, Note: note(field(r.Fields, "version"))})
}
