package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// addressed reads `IPs=["…"]` or `Determined the ip "…" for pod "name_ns(uid)"`.
func (t *Parser) addressed(r *records.Record) {
	ips, ok := between(r.Text, "IPs=[", "]")
	if r.Text[0] != '"' {
		ips = r.Text[len("Determined the ip "):]
		_, ok = between(r.Text, `for pod "`, `"`)
	}
	if ok {
		e := timeline.Event{Kind: timeline.PodSeen, Address: leadingAddress(bytes.TrimLeft(ips, `"`))}
		e.Pod, e.UID = podIn(r.Text)
		t.fromKubelet(r, e)
	}
}

// status reads address and container of a status that was written, as far as the line has them:
// as a patch, or in 2017 dumped as a Go value.
func (t *Parser) status(r *records.Record) {
	e := timeline.Event{Kind: timeline.PodSeen}
	e.Pod, e.UID = podIn(r.Text)
	if r.Text[0] != '"' {
		ip, _ := between(r.Text, "PodIP:", " ")
		e.Address, e.Container = leadingAddress(ip), idAfter(r.Text, "ContainerID:")
		if e.Pod != "" {
			t.fromKubelet(r, e)
		}
	} else if ip, ok := between(r.Text, `"podIP":"`, `"`); ok {
		e.Address, e.Container = leadingAddress(ip), idAfter(r.Text, `"containerID":`)
		t.fromKubelet(r, e)
	}
}

// podGone reports a pod that no longer exists, by its UID: a new one may have its name.
func (t *Parser) podGone(r *records.Record) {
	t.fromKubelet(r, timeline.Event{Kind: timeline.PodGone, Pod: newPod(field(r.Text, "pod")), UID: uidOf(field(r.Text, "oldPodUID"))})
}

func (t *Parser) podGone2017(r *records.Record) {
	if of, ok := between(r.Text, `Pod "`, `"`); ok && indexString(r.Text, "fully terminated and removed") >= 0 {
		pod, uid := oldPod(of)
		t.fromKubelet(r, timeline.Event{Kind: timeline.PodGone, Pod: pod, UID: uid})
	}
}

// withoutInterface reads `Missing default interface "eth0" for pod:ns_name`, whose order
// is not that of the kubelet's other lines.
func (t *Parser) withoutInterface(r *records.Record) {
	if _, of, ok := bytes.Cut(r.Text, []byte(" for pod:")); ok {
		if pod := turnedPod(bytes.TrimSpace(of)); pod != "" {
			t.fromKubelet(r, timeline.Event{Kind: timeline.PodWithoutInterface, Pod: pod, Note: note(r.Text)})
		}
	}
}

// notSynced reports pods that could not be stopped, or got no sandbox.
func (t *Parser) notSynced(r *records.Record) {
	t.syncFailed(r, newPod(field(r.Text, "pod")), uidOf(field(r.Text, "podUID")), failure(r.Text))
}

func (t *Parser) syncFailed(r *records.Record, pod, uid string, words []byte) {
	if indexString(words, "CreatePodSandbox") < 0 {
		t.killFailed(r, pod, uid, words)
		return
	}
	if kind := notCreatedBy(words); kind != timeline.PodSeen {
		t.fromKubelet(r, timeline.Event{Kind: kind, Pod: pod, UID: uid, Sandbox: idAfter(words, "sandbox "), Note: note(words)})
	}
}

// notSynced2017 reads `Error syncing pod UID ("name_ns(uid)"), skipping: …`.
func (t *Parser) notSynced2017(r *records.Record) {
	if of, ok := between(r.Text, `("`, `"`); ok {
		pod, uid := oldPod(of)
		t.syncFailed(r, pod, uid, failure(r.Text))
	}
}

// killFailed2017 reads `error killing pod: failed to "KillPodSandbox" for "uid" with …`. Of
// a container only its name in the pod is logged, which is not unique.
func (t *Parser) killFailed2017(r *records.Record) {
	if uid, ok := between(r.Text, `"KillPodSandbox" for "`, `"`); ok && uidOf(uid) != "" {
		pod := ""
		if of, ok := between(unescaped(r.Text), `teardown pod "`, `"`); ok {
			pod, _ = oldPod(of)
		}
		t.killFailed(r, pod, uidOf(uid), r.Text)
	}
}

func (t *Parser) killFailed(r *records.Record, pod, uid string, words []byte) {
	if containsAny(words, "KillPodSandbox", "KillContainer", "killing pod") {
		t.fromKubelet(r, timeline.Event{Kind: timeline.PodKillFailed, Pod: pod, UID: uid, Sandbox: idAfter(words, "sandbox "), Note: note(words)})
	}
}
