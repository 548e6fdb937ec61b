package tell

import (
	"bytes"

	"plumbline.dev/plumbline/internal/forensics"
	"plumbline.dev/plumbline/internal/forensics/read"
)

// addition tells what the plugin says in an ADD.
func (t *Teller) addition(r *read.Record, w word, k *call) {
	switch w {
	case extracted:
		t.named(r, "cni", id(get(r, "Node")))
	case extractedAdd:
		t.named(r, "cni", id(get(r, "Node")))
		t.named(r, "cni", nodeOf(get(r, "WorkloadEndpoint")))
		if k.once(forensics.AddBegin) {
			t.say(r, "cni", k.event(forensics.AddBegin))
		}
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
		// The lines that follow a failure say it again, or with less.
		if w == addCleanup && r.Style == read.Bracket || !k.once(forensics.AddFailed) {
			return
		}
		e := k.event(forensics.AddFailed)
		e.Note = errorOf(r)
		t.say(r, "cni", e)
	default:
	}
}

// written takes address and device out of the endpoint that is about to be stored.
func (t *Teller) written(r *read.Record, k *call) {
	text := r.Text
	if r.Style == read.Logrus {
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

// added tells that the endpoint was stored, which is the last step of an ADD.
func (t *Teller) added(r *read.Record, k *call) {
	if !k.once(forensics.EndpointWritten) {
		return
	}
	e := k.event(forensics.EndpointWritten)
	e.Object = id(get(r, "WorkloadEndpoint"))
	if e.Object == "" {
		e.Object = id(get(r, "Workload"))
	}
	e.Address, e.Device = k.address(), k.device
	t.say(r, "cni", e)
	e.Kind, e.Object = forensics.AddEnd, ""
	t.say(r, "cni", e)
	k.ended = true
	t.cni.owns(r, k)
}
