package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// maxPods bounds the pods of one line: a kubelet that starts names all pods of its node.
const maxPods = 1024

// podsListed reads `"SyncLoop ADD" source="api" pods=["ns/name"]`. Before, from 1.21 on, names
// had no quotes and were separated by spaces, and for a while the whole list was quoted.
func (t *Parser) podsListed(r *records.Record) {
	kind := synced(r.Text[len(`"SyncLoop `):])
	_, list, _ := bytes.Cut(r.Text, []byte(" pods="))
	list, _ = between(list, "[", "]")
	for n := 0; n < maxPods && len(list) > 0; n++ {
		var one []byte
		i := bytes.IndexAny(list, ", ")
		if i < 0 {
			i = len(list)
		}
		one, list = list[:i], list[min(i+1, len(list)):]
		if pod := newPod(bytes.Trim(one, `"`)); pod != "" {
			t.fromKubelet(r, timeline.Event{Kind: kind, Pod: pod})
		}
	}
}

// podsListed2017 reads `SyncLoop (ADD, "api"): "name_ns(uid), name_ns(uid)"`.
func (t *Parser) podsListed2017(r *records.Record) {
	kind := synced(r.Text[len(`SyncLoop (`):])
	_, list, _ := bytes.Cut(r.Text, []byte(`): "`))
	for n := 0; n < maxPods && len(list) > 0; n++ {
		var one []byte
		one, list, _ = bytes.Cut(list, []byte(", "))
		e := timeline.Event{Kind: kind}
		if kind == timeline.PodSeen && indexString(one, "DeletionTimestamp=") >= 0 {
			e.Kind = timeline.PodTerminating
		}
		if e.Pod, e.UID = oldPod(bytes.Trim(one, `"`)); e.Pod != "" {
			t.fromKubelet(r, e)
		}
	}
}

func synced(operation []byte) timeline.Kind {
	switch {
	case hasPrefix(operation, "DELETE"):
		return timeline.PodTerminating
	case hasPrefix(operation, "REMOVE"):
		return timeline.PodGone
	default:
		return timeline.PodSeen
	}
}

// lifecycle reads an event of the pod lifecycle event generator (PLEG). It does not show whether
// the ID is of a sandbox; it is taken for a container until a line shows otherwise.
// The event was written in three ways: &pleg.PodLifecycleEvent{ID:"uid", Type:"…", Data:"id"},
// &{ID:uid Type:… Data:id} and {"ID":"uid","Type":"…","Data":"id"}.
func (t *Parser) lifecycle(r *records.Record) {
	i := max(indexString(r.Text, " event="), indexString(r.Text, ", event: "))
	if i < 0 {
		return
	}
	event := r.Text[i:]
	e := timeline.Event{Container: containerID(member(event, "Data"))}
	switch kind := member(event, "Type"); {
	case hasPrefix(kind, "ContainerStarted"):
		e.Kind = timeline.ContainerStarted
	case hasPrefix(kind, "ContainerDied"):
		e.Kind = timeline.ContainerDied
	default:
		return
	}
	if r.Text[0] == '"' {
		e.Pod, e.UID = newPod(field(r.Text, "pod")), uidOf(member(event, "ID"))
	} else if of, ok := between(r.Text, `(PLEG): "`, `"`); ok {
		e.Pod, e.UID = oldPod(of)
	}
	if e.Container != "" {
		t.fromKubelet(r, e)
	}
}

// member gives a member of a dumped Go value or of a JSON object, without its quotes.
func member(text []byte, name string) []byte {
	for {
		i := indexString(text, name)
		if i < 0 {
			return nil
		}
		text = text[i+len(name):]
		rest := bytes.TrimPrefix(text, []byte{'"'})
		if len(rest) > 0 && rest[0] == ':' && len(rest) > 1 {
			return upTo(bytes.TrimLeft(rest[1:], `" `), maxPodName)
		}
	}
}

// upTo gives the word that b begins with, if it is not too long.
func upTo(b []byte, longest int) []byte {
	n := bytes.IndexAny(b, "\"', })]\\")
	if n < 0 {
		n = len(b)
	}
	if n > longest {
		return nil
	}
	return b[:n]
}
