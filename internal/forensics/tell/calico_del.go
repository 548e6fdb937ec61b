package tell

import (
	"plumbline.dev/plumbline/internal/forensics"
	"plumbline.dev/plumbline/internal/forensics/read"
)

// deletion tells what the plugin says in a DEL. None of its lines says that it begins:
// the first that only a DEL writes does.
func (t *Teller) deletion(r *read.Record, w word, k *call) {
	if w == endpointKept && k.pod == "" {
		t.cni.name(k, caller{pod: dumpedPod(r.Text)})
	}
	if w != delError && w != delDone && r.Style == read.Bracket && k.once(forensics.DelBegin) {
		t.say(r, "cni", k.event(forensics.DelBegin))
	}
	switch w {
	case endpointMissing:
		if k.once(forensics.EndpointMissing) {
			e := k.event(forensics.EndpointMissing)
			e.Object = endpointOf(r)
			t.say(r, "cni", e)
		}
	case endpointLeft:
		k.once(forensics.EndpointKept)
	case endpointDone:
		t.endpointDone(r, k)
	case endpointKept:
		k.once(forensics.EndpointKept)
		e := k.event(forensics.EndpointKept)
		e.Object = endpointOf(r)
		if owner, ok := between(r.Text, ` ContainerID:"`, `"`); ok {
			e.Note = "it belongs to " + id(owner)
		}
		t.say(r, "cni", e)
	case delDone:
		if k.once(forensics.DelEnd) {
			t.say(r, "cni", k.event(forensics.DelEnd))
		}
		k.ended = true
	case delError:
		if k.once(forensics.DelFailed) {
			e := k.event(forensics.DelFailed)
			e.Note = errorOf(r)
			t.say(r, "cni", e)
		}
		k.ended = true
	default:
	}
}

// endpointDone tells that the endpoint was deleted, which Calico does not log since 2018:
// it says only why it did not. Where such a line is lost this would be wrong, so it is
// told of an endpoint alone that is the sandbox's own, as an earlier line showed.
func (t *Teller) endpointDone(r *read.Record, k *call) {
	if r.Style != read.Bracket || k.has(forensics.EndpointKept) || k.has(forensics.EndpointMissing) || !t.cni.owner(r, k) || !k.once(forensics.EndpointDeleted) {
		return
	}
	t.cni.disown(r, k)
	e := k.event(forensics.EndpointDeleted)
	e.Note = "its own; not logged as such, but no reason was logged to keep it"
	t.say(r, "cni", e)
}

// endpointOf gives the name of the endpoint that a line of a DEL is about. It is printed
// as its name, or as all of the object.
func endpointOf(r *read.Record) string {
	if name := id(get(r, "WorkloadEndpoint")); name != "" {
		return name
	}
	if name, ok := between(r.Text, `{Name:"`, `"`); ok {
		return id(name)
	}
	return id(get(r, "Workload"))
}

// dumpedPod gives the pod of an endpoint that is printed whole.
func dumpedPod(text []byte) string {
	ns, _ := between(text, ` Namespace:"`, `"`)
	name, _ := between(text, ` Pod:"`, `"`)
	if id(ns) == "" || id(name) == "" {
		return ""
	}
	return string(ns) + "/" + string(name)
}
