package parse

import (
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// release parses IPAM's lines about the release of an address.
func (t *Parser) release(r *records.Record, w word, k *call) {
	switch w {
	case releasing, releasingHandle: // requested by handle and then also by name
		t.sayOnce(r, "ipam", k, timeline.ReleaseAsked, handleOf(r), "")
	case released:
		t.releasedOf(r, k)
	case releasedGiven:
		e := k.event(timeline.AddressReleased)
		e.Address = address(value(r.Text[len("Released explicit address: "):]))
		t.say(r, "ipam", e)
	case releaseNothing:
		if r.Level != 'D' { // then the old name is only tried in addition
			e := k.event(timeline.ReleaseNothing)
			e.Object = handleOf(r)
			t.say(r, "ipam", e)
		}
	case releaseError:
		if k.verb != add {
			t.sayOnce(r, "ipam", k, timeline.DelFailed, "", errorOf(r))
		}
	case handleCounted:
		if k.verb != add { // an ADD that lost a race reverts its own increment
			t.sayOnce(r, "ipam", k, timeline.HandleReleased, handleOf(r), "")
		}
	default:
	}
}

// releasedOf parses the release of a handle's addresses.
func (t *Parser) releasedOf(r *records.Record, k *call) {
	e := k.event(timeline.AddressReleased)
	e.Object = handleOf(r)
	switch {
	case get(r, "ContainerID") == nil:
		// In 2017 this was logged whether or not the block held an address of that name. Only
		// the decremented handle shows that it did.
		if !k.has(timeline.HandleReleased) {
			return
		}
	case timeline.SandboxOf(e.Object) == k.sandbox:
		e.Address = k.address()
	}
	t.say(r, "ipam", e)
}

// handleOf gives the handle that a line is about.
func handleOf(r *records.Record) string {
	for _, key := range [...]string{"workloadID", "workloadId", "HandleID", "handle"} {
		if h := id(get(r, key)); h != "" {
			return h
		}
	}
	if h, ok := between(r.Text, "handle '", "'"); ok {
		return id(h)
	}
	// Today's Workload is an endpoint's name; the one of 2017 is the handle.
	if get(r, "ContainerID") == nil {
		return id(get(r, "Workload"))
	}
	return ""
}
