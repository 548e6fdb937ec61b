package parse

import (
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// deletion parses a line of the plugin in a DEL. No line marks the begin of a DEL: the first line
// that only a DEL writes counts as it.
func (t *Parser) deletion(r *records.Record, w word, k *call) {
	if w == endpointKept && k.pod == "" {
		t.cni.name(k, caller{pod: dumpedPod(r.Text)})
	}
	if w != delError && w != delDone && r.Style == records.Bracket {
		t.sayOnce(r, "cni", k, timeline.DelBegin, "", "")
	}
	switch w {
	case endpointMissing:
		t.sayOnce(r, "cni", k, timeline.EndpointMissing, endpointOf(r), "")
	case endpointLeft:
		k.once(timeline.EndpointKept)
	case endpointDone:
		t.endpointDone(r, k)
	case endpointKept:
		k.once(timeline.EndpointKept)
		e := k.event(timeline.EndpointKept)
		e.Object = endpointOf(r)
		if owner, ok := between(r.Text, ` ContainerID:"`, `"`); ok {
			e.Note = "it belongs to " + id(owner)
		}
		t.say(r, "cni", e)
	case delDone:
		t.sayOnce(r, "cni", k, timeline.DelEnd, "", "")
		k.ended = true
	case delError:
		t.sayOnce(r, "cni", k, timeline.DelFailed, "", errorOf(r))
		k.ended = true
	default:
	}
}

// endpointDone reports that the endpoint was deleted. Calico does not log this since 2018; it only
// logs why it did not delete one. If such a line is missing, the conclusion would be wrong, so it
// is drawn only for an endpoint that an earlier line shows to be the sandbox's own.
func (t *Parser) endpointDone(r *records.Record, k *call) {
	if r.Style != records.Bracket || k.has(timeline.EndpointKept) || k.has(timeline.EndpointMissing) || !t.cni.owner(r, k) {
		return
	}
	if t.sayOnce(r, "cni", k, timeline.EndpointDeleted, "", "its own; not logged as such, but no reason was logged to keep it") {
		t.cni.disown(r, k)
	}
}

// endpointOf gives the name of the endpoint that a line of a DEL is about. It is printed
// as its name, or as the whole object.
func endpointOf(r *records.Record) string {
	if name := id(get(r, "WorkloadEndpoint")); name != "" {
		return name
	}
	if name, ok := between(r.Text, `{Name:"`, `"`); ok {
		return id(name)
	}
	return id(get(r, "Workload"))
}

// dumpedPod gives the pod of an endpoint that is printed as the whole object.
func dumpedPod(text []byte) string {
	ns, _ := between(text, ` Namespace:"`, `"`)
	name, _ := between(text, ` Pod:"`, `"`)
	if id(ns) == "" || id(name) == "" {
		return ""
	}
	return string(ns) + "/" + string(name)
}
