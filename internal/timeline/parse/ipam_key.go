package parse

import (
	"bytes"
	"strings"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

const (
	endpointPart = "/endpoint"
	handlePart   = "/ipam/v2/handle/"
)

// key parses a line of the datastore client of 2017. "Delete Key" is only the request; the line
// after it shows that it was done: its empty parents are deleted, or the command completed.
func (t *Parser) key(r *records.Record, w word, k *call) {
	switch w {
	case deleteKey:
		k.asked, k.object = deleteKey, path(r.Text[len("Delete Key: "):])
		if host, ok := between(r.Text, "/calico/v1/host/", "/workload/"); ok {
			t.named(r, "cni", id(host))
		}
	case deleteEmptyKey:
		if indexString(r.Text, "/workload/") >= 0 {
			if k.object == "" {
				k.object = path(r.Text[len("Delete empty Key: "):])
			}
			t.gone(r, k)
		}
	case keyNotFound:
		if k.asked == deleteKey && strings.Contains(k.object, endpointPart) && t.sayOnce(r, "cni", k, timeline.EndpointMissing, k.object, "") {
			k.ended = k.ended || r.Style == records.Logrus // this also ends the DEL, with an error
		}
		k.asked = silence
	case commandCompleted:
		if k.asked == deleteKey {
			k.asked = silence
			t.keyDeleted(r, k)
		}
	default:
	}
}

// keyDeleted reports that the requested key was deleted: a handle or an endpoint.
func (t *Parser) keyDeleted(r *records.Record, k *call) {
	if handle, ok := handleIn([]byte(k.object)); ok {
		k.object = ""
		if k.verb != add {
			t.sayOnce(r, "ipam", k, timeline.HandleReleased, id(handle), "")
		}
	} else if strings.Contains(k.object, endpointPart) {
		t.gone(r, k)
	}
}

// gone reports that the endpoint was deleted. In 2017 that was the last logged step of a DEL: what
// follows in the pod's network namespace is not logged.
func (t *Parser) gone(r *records.Record, k *call) {
	t.sayOnce(r, "cni", k, timeline.EndpointDeleted, k.object, "")
	if r.Style == records.Bracket || k.sandbox == "" {
		return
	}
	note := ""
	if k.netns {
		note = "its endpoint was deleted; what was done in its network namespace is not logged"
	}
	t.sayOnce(r, "cni", k, timeline.DelEnd, "", note)
}

// path gives a key of the datastore, empty if it has characters that keys cannot have.
func path(b []byte) string {
	b = value(b)
	for part := range bytes.SplitSeq(b, []byte("/")) {
		if len(part) > 0 && id(part) == "" {
			return ""
		}
	}
	return string(b)
}

// handleIn gives the handle that a key of the datastore is of.
func handleIn(key []byte) ([]byte, bool) {
	i := indexString(key, handlePart)
	if i < 0 {
		return nil, false
	}
	return value(key[i+len(handlePart):]), true
}

// workloadIn gives NAMESPACE.NAME of a key of the datastore.
func workloadIn(key []byte) []byte {
	if h, ok := handleIn(key); ok {
		return h
	}
	const before = "/workload/k8s/"
	i := indexString(key, before)
	if i < 0 {
		return nil
	}
	key = value(key[i+len(before):])
	if j := bytes.IndexByte(key, '/'); j >= 0 {
		key = key[:j]
	}
	return key
}
