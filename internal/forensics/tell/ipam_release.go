package tell

import (
	"plumbline.dev/plumbline/internal/forensics"
	"plumbline.dev/plumbline/internal/forensics/read"
)

// release tells what IPAM says when it gives an address back.
func (t *Teller) release(r *read.Record, w word, k *call) {
	var e forensics.Event
	switch w {
	case releasing, releasingHandle:
		if !k.once(forensics.ReleaseAsked) {
			return // by handle, and then by name, too
		}
		e = k.event(forensics.ReleaseAsked)
		e.Object = handleOf(r)
	case released:
		e = k.event(forensics.AddressReleased)
		e.Object = handleOf(r)
		switch {
		case get(r, "ContainerID") == nil:
			// In 2017 this was said whether or not the block held anything of that name. Only
			// the count that goes down shows that it did.
			if !k.has(forensics.HandleReleased) {
				return
			}
		case sandboxOf(e.Object) == k.sandbox:
			e.Address = k.address()
		}
	case releasedGiven:
		e = k.event(forensics.AddressReleased)
		e.Address = address(value(r.Text[len("Released explicit address: "):]))
	case releaseNothing:
		if r.Level == 'D' {
			return // it was looked for under its old name, in case
		}
		e = k.event(forensics.ReleaseNothing)
		e.Object = handleOf(r)
	case releaseError:
		if k.verb == add || !k.once(forensics.DelFailed) {
			return
		}
		e = k.event(forensics.DelFailed)
		e.Note = errorOf(r)
	case handleCounted:
		if k.verb == add || !k.once(forensics.HandleReleased) {
			return // an ADD takes back its own count when it comes too late
		}
		e = k.event(forensics.HandleReleased)
		e.Object = handleOf(r)
	default:
		return
	}
	t.say(r, "ipam", e)
}

// handleOf gives the handle that a line is about.
func handleOf(r *read.Record) string {
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
