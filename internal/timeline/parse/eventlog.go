package parse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// checksum is the length of the checksum at the start of a line of an event log.
const checksum = 8

// ofEventLog reports whether a line has the form of an event log: a checksum and an entry, or
// the heading of the file.
func ofEventLog(text []byte) bool {
	return len(text) > checksum+1 && text[checksum] == ' ' && (hasPrefix(text[checksum+1:], `{"at":`) || isHeading(text))
}

func isHeading(text []byte) bool {
	return hasPrefix(text[checksum+1:], `{"format":"plumbline.dev/eventlog"`)
}

func wantsEventLog(text []byte) bool {
	if isHeading(text) {
		return true
	}
	for _, of := range [...]string{"sandboxes", "containers", "attachments", "mounts", "runtimes", "machines", "routes", "cni", "events"} {
		if i := indexString(text, `"of":"`); i >= 0 && hasPrefix(text[i+len(`"of":"`):], of) {
			return true
		}
	}
	return false
}

// eventLog reads a line of a node's event log: a change that the agent recorded, or a call that
// the guard recorded. A line with a wrong checksum is ignored.
func (t *Parser) eventLog(r *records.Record) {
	if len(r.Text) > maxJSON || !ofEventLog(r.Text) {
		return
	}
	body := r.Text[checksum+1:]
	sum, err := strconv.ParseUint(string(r.Text[:checksum]), 16, 32)
	if body = bytes.TrimRight(body, "\r\n"); err != nil || crc32.ChecksumIEEE(body) != uint32(sum) {
		return
	}
	if v, ok := eventlog.HeadingVersion(body); ok {
		if t.newer = v > eventlog.Version; t.newer {
			t.file.Left = append(t.file.Left, fmt.Sprintf("event log of version %d, supported is %d: %v", v, eventlog.Version, eventlog.ErrNewer))
		}
		return
	}
	var f eventlog.Entry
	if t.newer || json.Unmarshal(body, &f) != nil {
		return
	}
	at := *r
	at.At = f.At
	switch {
	case f.By == "guard" && f.Of == "cni":
		t.eventCall(&at, &f)
		return
	case f.By != "agent":
		return
	case f.Of == "events":
		t.file.Left = append(t.file.Left, note([]byte(f.Note)))
		return
	}
	switch f.Of {
	case model.Sandboxes.String():
		t.eventSandbox(&at, &f)
	case model.Containers.String():
		t.eventContainer(&at, &f)
	case model.Attachments.String():
		t.eventAttachment(&at, &f)
	case model.Routes.String():
		t.eventRoute(&at, &f)
	default:
		t.eventNode(&at, &f)
	}
}

// rows decodes the row before and after a change; a missing row stays empty.
func rows[T any](f *eventlog.Entry) (was, now T) {
	_ = json.Unmarshal(f.Was, &was)
	_ = json.Unmarshal(f.Now, &now)
	return was, now
}

func (t *Parser) eventSandbox(r *records.Record, f *eventlog.Entry) {
	was, now := rows[model.Sandbox](f)
	row, e := now, timeline.Event{}
	switch {
	case f.What == "new":
		e.Kind = timeline.SandboxCreated
	case f.What == "gone":
		e.Kind, row = timeline.SandboxRemoved, was
	case f.What == "changed" && was.Ready && !now.Ready:
		e.Kind = timeline.SandboxStopped
	default:
		return
	}
	e.Pod, e.UID, e.Sandbox = newPod([]byte(row.Namespace+"/"+row.Pod)), uidOf([]byte(row.UID)), containerID([]byte(row.ID))
	t.say(r, "eventlog", e)
}

func (t *Parser) eventContainer(r *records.Record, f *eventlog.Entry) {
	was, now := rows[model.Container](f)
	e := timeline.Event{Container: containerID([]byte(now.ID)), Sandbox: containerID([]byte(now.Sandbox))}
	switch {
	case now.State == "running" && was.State != "running":
		e.Kind = timeline.ContainerStarted
	case was.State == "running" && now.State == "exited":
		e.Kind = timeline.ContainerDied
	default:
		return
	}
	t.say(r, "eventlog", e)
}

// eventAttachment reports a sandbox's address. A missing interface is reported only if the network
// namespace still exists: at the end of every pod both disappear.
func (t *Parser) eventAttachment(r *records.Record, f *eventlog.Entry) {
	was, now := rows[model.Attachment](f)
	e := timeline.Event{Kind: timeline.PodSeen, Sandbox: containerID([]byte(now.Sandbox))}
	switch {
	case e.Sandbox == "":
		return
	case f.What == "changed" && was.Device != "" && now.Device == "":
		e.Kind, e.Note = timeline.PodWithoutInterface, "the agent recorded that interface "+note([]byte(was.Device))+" disappeared"
	case len(now.IPs) > 0:
		e.Address = now.IPs[0].Addr()
	default:
		return
	}
	t.say(r, "eventlog", e)
}

// eventRoute reports that the route to a pod appeared or is gone, and who did it.
func (t *Parser) eventRoute(r *records.Record, f *eventlog.Entry) {
	was, now := rows[model.Route](f)
	row, e := now, timeline.Event{Kind: timeline.RouteAdded}
	switch f.What {
	case "new":
	case "gone":
		row, e.Kind = was, timeline.RouteRemoved
	default:
		return
	}
	if row.Type != "" || !row.Dst.IsSingleIP() {
		return
	}
	e.Address, e.Note = row.Dst.Addr(), note([]byte(f.Who()))
	t.say(r, "eventlog", e)
}

// eventNode reports what concerns the whole node.
func (t *Parser) eventNode(r *records.Record, f *eventlog.Entry) {
	e := timeline.Event{}
	switch f.Of {
	case model.Mounts.String():
		was, now := rows[model.Mount](f)
		if now.Silent && !was.Silent {
			e.Kind, e.Object = timeline.MountTimeout, note([]byte(now.Target))
		}
	case model.Runtimes.String():
		was, now := rows[model.Runtime](f)
		if now.Error != "" && was.Error == "" {
			e.Kind, e.Note = timeline.RuntimeTimeout, note([]byte(now.Call+": "+now.Error))
		}
	case model.Machines.String():
		was, now := rows[model.Machine](f)
		if now.CalicoName != "" && now.CalicoName != was.CalicoName {
			e.Kind, e.Object = timeline.NodeNamed, nodeName([]byte(now.CalicoName))
		}
	}
	if e.Kind != timeline.Nothing {
		t.say(r, "eventlog", e)
	}
}
