package parse

import (
	"strings"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// eventCall reads what the guard wrote of a CNI call: who asked for what, and what came
// of it. A late DEL that was kept from the plugin took nothing, and is told as that.
func (t *Parser) eventCall(r *records.Record, f *eventlog.Entry) {
	_, c := rows[guard.Event](f)
	e := timeline.Event{
		Kind: kindOfCall(f.What, &c), UID: uidOf([]byte(c.UID)), Sandbox: containerID([]byte(c.Container)), Device: note([]byte(c.Device)),
	}
	if e.Kind == timeline.Nothing || e.Sandbox == "" {
		return
	}
	if c.Pod != "" {
		e.Pod = newPod([]byte(c.Namespace + "/" + c.Pod))
	}
	if e.Kind == timeline.AddEnd && len(c.IPs) > 0 {
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

func kindOfCall(verb string, c *guard.Event) timeline.Kind {
	failed := c.Code != 0
	switch guard.Verb(verb) {
	case guard.Add:
		if failed {
			return timeline.AddFailed
		}
		return timeline.AddEnd
	case guard.Del:
		switch {
		case failed:
			return timeline.DelFailed
		case c.Stopped():
			return timeline.DelStopped
		}
		return timeline.DelEnd
	case guard.Replayed:
		if c.Called && !failed {
			return timeline.DelEnd
		}
		return timeline.Nothing // nobody waits for it: it comes again
	default:
		return timeline.Nothing
	}
}
