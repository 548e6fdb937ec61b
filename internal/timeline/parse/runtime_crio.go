package parse

import (
	"bytes"
	"cmp"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// CRI-O's messages are read as its source of August 2026 writes them (server/ and ocicni in
// vendor/); none was recorded from a running one by us.
const crio = "crio"

// crioSandbox reads `Ran pod sandbox ID with infra container: ns/pod/POD`, `Stopped pod
// sandbox: ID` and `Removed pod sandbox: ID`.
func (t *Parser) crioSandbox(r *records.Record) {
	e := timeline.Event{Kind: timeline.SandboxStopped}
	switch {
	case hasPrefix(r.Text, "Ran"):
		e.Kind, e.Sandbox = timeline.SandboxCreated, idAfter(r.Text, "sandbox ")
		if _, of, ok := bytes.Cut(r.Text, []byte("infra container: ")); ok {
			e.Pod = newPod(bytes.TrimSpace(of))
		}
	case hasPrefix(r.Text, "Removed"):
		e.Kind = timeline.SandboxRemoved
	}
	e.Sandbox = cmp.Or(e.Sandbox, idAfter(r.Text, "sandbox: "))
	if e.Sandbox != "" {
		t.say(r, crio, e)
	}
}

// crioNetwork reads `Got pod network &{Name:… Namespace:… ID:… UID:… NetNS:…}`, which
// precedes both ADD and DEL.
func (t *Parser) crioNetwork(r *records.Record) {
	pod, namespace := member(r.Text, "{Name"), member(r.Text, " Namespace")
	e := timeline.Event{
		Kind: timeline.PodSeen, Pod: podNamed(namespace, pod),
		Sandbox: containerID(member(r.Text, " ID")), UID: uidOf(member(r.Text, " UID")),
	}
	if e.Pod != "" {
		t.say(r, crio, e)
	}
}

// crioCalls reads `Adding pod ns_name to CNI network` and `Deleting pod ns_name from CNI
// network`. The line does not show which sandbox it is.
func (t *Parser) crioCalls(r *records.Record) {
	of, ok := between(r.Text, " pod ", " ")
	if !ok || turnedPod(of) == "" || indexString(r.Text, "CNI network") < 0 {
		return
	}
	e := timeline.Event{Kind: timeline.DelBegin, Pod: turnedPod(of)}
	if r.Text[0] == 'A' {
		e.Kind = timeline.AddBegin
	}
	t.say(r, crio, e)
}

// crioAddFailed reads `Error adding pod ns_name to CNI network "…": …` and, until 2021, `Error while adding pod to CNI network "…": …`,
// which names no pod. Neither names the sandbox.
func (t *Parser) crioAddFailed(r *records.Record) {
	e := timeline.Event{Kind: timeline.AddFailed, Note: note(r.Text)}
	if of, ok := between(r.Text, "adding pod ", " "); ok {
		e.Pod = turnedPod(of)
	}
	t.say(r, crio, e)
}

// crioNetworkFailed reads `… destroy network for pod sandbox k8s_name_ns_uid_0(ID): …`.
func (t *Parser) crioNetworkFailed(r *records.Record) {
	e := timeline.Event{Kind: timeline.DelFailed, Note: note(r.Text)}
	if of, ok := between(r.Text, "pod sandbox ", "("); ok {
		e.Pod, e.UID = reservedName(of)
		e.Sandbox = idAfter(r.Text, string(of)+"(")
	}
	t.say(r, crio, e)
}

// crioContainer reads `Created container ID: ns/pod/name`, which only shows its pod,
// and `Stopped container ID: ns/pod/name`.
func (t *Parser) crioContainer(r *records.Record) {
	e := timeline.Event{Kind: timeline.ContainerDied, Container: idAfter(r.Text, "container ")}
	if _, of, ok := bytes.Cut(r.Text, []byte(": ")); ok {
		e.Pod = newPod(bytes.TrimSpace(of))
	}
	switch {
	case e.Container == "":
	case r.Text[0] == 'C':
		t.seen.put(e.Container, owner{pod: e.Pod})
	default:
		t.say(r, crio, e)
	}
}

func (t *Parser) crioStarted(r *records.Record) {
	id := containerID(field(r.Fields, "containerID"))
	if id != "" {
		t.say(r, crio, timeline.Event{
			Kind: timeline.ContainerStarted, Container: id,
			Sandbox: containerID(field(r.Fields, "sandboxID")), Pod: newPod(field(r.Fields, "description")),
		})
	}
}

// crioKillFailed reads `Stopping container ID with stop signal(…) timed out. Killing...` and
// `Killing container ID failed: …`; a successful stop begins with the same words.
func (t *Parser) crioKillFailed(r *records.Record) {
	if containsAny(r.Text, "timed out", " failed: ") {
		t.say(r, crio, timeline.Event{Kind: timeline.ContainerKillFailed, Container: idAfter(r.Text, "container "), Note: note(r.Text)})
	}
}

// crioSlow reads that a sandbox is requested again before it was created, which the kubelet gets
// as "name is reserved".
func (t *Parser) crioSlow(r *records.Record) {
	e := timeline.Event{Kind: timeline.RuntimeTimeout, Note: note(r.Text)}
	if of, ok := between(r.Text, "sandbox ", " "); ok {
		e.Pod, e.UID = reservedName(of)
	}
	t.say(r, crio, e)
}

func (t *Parser) crioBooted(r *records.Record) {
	t.say(r, crio, timeline.Event{Kind: timeline.RuntimeStarted, Note: note(r.Text[len("Starting CRI-O, version: "):])})
}

// reservedName reads k8s_name_ns_uid_attempt of a sandbox, and k8s_container_name_ns_uid_attempt. No
// name contains an underscore.
func reservedName(b []byte) (pod, uid string) {
	parts := bytes.Split(b[:min(len(b), 2*maxPodName)], []byte{'_'})
	if len(parts) == 6 {
		parts = parts[1:]
	}
	if len(parts) != 5 || podNamed(parts[2], parts[1]) == "" {
		return "", ""
	}
	return podNamed(parts[2], parts[1]), uidOf(parts[3])
}
