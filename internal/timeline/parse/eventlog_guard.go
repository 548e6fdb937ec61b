package parse

import (
	"strings"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// eventCall reads the guard's entry about a CNI call and its result. A late DEL that the guard did
// not pass to the plugin removed nothing; it becomes DelStopped.
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
		e.Note = note([]byte(c.Says + "; the newer sandbox lost: " + strings.Join(c.Lost, ", ")))
	case c.Late:
		e.Note = note([]byte(c.Says))
	}
	t.say(r, "eventlog", e)
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
		return timeline.Nothing // the guard retries it
	default:
		return timeline.Nothing
	}
}
