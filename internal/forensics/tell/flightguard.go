package tell

import (
	"strings"

	"plumbline.dev/plumbline/internal/flight"
	"plumbline.dev/plumbline/internal/forensics"
	"plumbline.dev/plumbline/internal/forensics/read"
	"plumbline.dev/plumbline/internal/guard"
)

// flightCall reads what the guard wrote of a CNI call: who asked for what, and what came
// of it. A late DEL that was kept from the plugin took nothing, and is told as that.
func (t *Teller) flightCall(r *read.Record, f *flight.Entry) {
	_, c := rows[guard.Event](f)
	e := forensics.Event{
		Kind: kindOfCall(f.What, &c), UID: uidOf([]byte(c.UID)), Sandbox: containerID([]byte(c.Container)), Device: note([]byte(c.Device)),
	}
	if e.Kind == forensics.Nothing || e.Sandbox == "" {
		return
	}
	if c.Pod != "" {
		e.Pod = newPod([]byte(c.Namespace + "/" + c.Pod))
	}
	if e.Kind == forensics.AddEnd && len(c.IPs) > 0 {
		e.Address = c.IPs[0].Addr()
	}
	switch {
	case c.Error != "":
		e.Note = note([]byte(c.Error))
	case len(c.Lost) > 0:
		e.Note = note([]byte(c.Says + "; the newer one lost: " + strings.Join(c.Lost, ", ")))
	case c.Late:
		e.Note = note([]byte(c.Says))
	}
	t.say(r, "flight", e)
}

func kindOfCall(verb string, c *guard.Event) forensics.Kind {
	failed := c.Code != 0
	switch guard.Verb(verb) {
	case guard.Add:
		if failed {
			return forensics.AddFailed
		}
		return forensics.AddEnd
	case guard.Del:
		switch {
		case failed:
			return forensics.DelFailed
		case c.Stopped():
			return forensics.DelStopped
		}
		return forensics.DelEnd
	case guard.Replayed:
		if c.Called && !failed {
			return forensics.DelEnd
		}
		return forensics.Nothing // nobody waits for it: it comes again
	default:
		return forensics.Nothing
	}
}
