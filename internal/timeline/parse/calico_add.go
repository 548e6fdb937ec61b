package parse

import (
	"bytes"
	"cmp"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// addition parses a line of the plugin in an ADD.
func (t *Parser) addition(r *records.Record, w word, k *call) {
	switch w {
	case extracted:
		t.named(r, "cni", id(get(r, "Node")))
	case extractedAdd:
		t.named(r, "cni", id(get(r, "Node")))
		t.named(r, "cni", nodeOf(get(r, "WorkloadEndpoint")))
		t.sayOnce(r, "cni", k, timeline.AddBegin, "", "")
	case usingAddresses:
		k.got(addressIn(r.Text))
	case resultGiven:
		t.result(r, k)
	case populated:
		k.got(populatedAddress(r))
	case deviceChosen:
		k.device = id(value(r.Text[len("Setting the host side veth name to "):]))
	case deviceWritten:
		t.written(r, k)
	case endpointWritten:
		t.added(r, k)
	case addError, addCleanup:
		// The lines after a failure repeat it.
		if w == addError || r.Style != records.Bracket {
			t.sayOnce(r, "cni", k, timeline.AddFailed, "", errorOf(r))
		}
	default:
	}
}

// written reads address and host interface from the endpoint that is about to be stored.
func (t *Parser) written(r *records.Record, k *call) {
	text := r.Text
	if r.Style == records.Logrus {
		text = r.Fields
	}
	if v, ok := between(text, ` InterfaceName:"`, `"`); ok {
		k.device = id(v)
		if v, ok = between(text, ` IPNetworks:[]string{"`, `"`); ok {
			k.got(address(v))
		}
		return
	}
	// In 2017 it was printed without names: … {[ADDRESS/32] … [PROFILE] DEVICE MAC}}
	if i := indexString(text, "endpoint=&"); i >= 0 {
		text = text[i:]
	}
	if v, ok := between(text, " {[", "]"); ok {
		k.got(address(v))
	}
	words := bytes.TrimRight(text, "} ")
	if i := bytes.LastIndexByte(words, ' '); i >= 0 {
		words = words[:i]
		if j := bytes.LastIndexByte(words, ' '); j >= 0 {
			k.device = id(words[j+1:])
		}
	}
}

// added reports that the endpoint was stored, which is the last step of an ADD.
func (t *Parser) added(r *records.Record, k *call) {
	if !k.once(timeline.EndpointWritten) {
		return
	}
	e := k.event(timeline.EndpointWritten)
	e.Object = cmp.Or(id(get(r, "WorkloadEndpoint")), id(get(r, "Workload")))
	e.Address, e.Device = k.address(), k.device
	t.say(r, "cni", e)
	e.Kind, e.Object = timeline.AddEnd, ""
	t.say(r, "cni", e)
	k.ended = true
	t.cni.owns(r, k)
}
