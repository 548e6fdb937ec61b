package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// ipam parses a line of Calico IPAM, or of the datastore client of 2017 below it.
func (t *Parser) ipam(r *records.Record, w word, k *call) {
	switch w {
	case autoAssign:
		host, _ := between(r.Text, "for host '", "'")
		t.named(r, "cni", id(host))
	case assigned:
		t.named(r, "cni", id(get(r, "host")))
		t.assigned(r, k, id(get(r, "handle")), r.Text)
	case assignedResult:
		handle := id(get(r, "HandleID"))
		t.assigned(r, k, handle, r.Text)
		if i := indexString(r.Text, "IPv6=["); i >= 0 {
			t.assigned(r, k, handle, r.Text[i:])
		}
	case assignedGiven:
		if a := address(get(r, "result.IPs")); k.gave(a) {
			e := k.event(timeline.AddressAssigned)
			e.Address, e.Object = a, id(get(r, "HandleID"))
			t.say(r, "ipam", e)
		}
	case getKey:
		if block, ok := bytes.CutPrefix(r.Text, []byte("Get Key: /calico/ipam/v2/assignment/")); ok {
			e := k.event(timeline.BlockRead)
			e.Object = id(value(block[bytes.LastIndexByte(block, '/')+1:]))
			t.say(r, "ipam", e)
		}
	case deleteKey, deleteEmptyKey, keyNotFound, commandCompleted:
		t.key(r, w, k)
	default:
		t.release(r, w, k)
	}
}

// assigned reports the addresses in the next list, each once per call.
func (t *Parser) assigned(r *records.Record, k *call, handle string, text []byte) {
	list, _ := between(text, "[", "]")
	for _, word := range bytes.Fields(list) {
		a := address(word)
		if !k.gave(a) {
			continue
		}
		e := k.event(timeline.AddressAssigned)
		e.Address, e.Object = a, handle
		t.say(r, "ipam", e)
	}
}
