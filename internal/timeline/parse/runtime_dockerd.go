package parse

import (
	"bytes"
	"cmp"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

const dockerd = "dockerd"

// dockerContainer reads `Container ID failed to exit within 10 seconds of kill - …`.
func (t *Parser) dockerContainer(r *records.Record) {
	if id := containerID(r.Text[len("Container "):]); id != "" && indexString(r.Text, "failed to exit within") >= 0 {
		t.say(r, dockerd, timeline.Event{Kind: timeline.ContainerKillFailed, Container: id, Note: note(r.Text)})
	}
}

// dockerExec reads that a command could not be run; the line does not name the container.
func (t *Parser) dockerExec(r *records.Record) {
	t.say(r, dockerd, timeline.Event{Kind: timeline.ExecFailed, Note: note(r.Text)})
}

// dockerBusy reads what could not be removed: "Handler for DELETE /containers/ID
// returned error: … remove PATH: device or resource busy" and the same of a layer. Before
// the path there may be the version of the API.
func (t *Parser) dockerBusy(r *records.Record) {
	i := indexString(r.Text, ": device or resource busy")
	if i < 0 {
		return
	}
	e := timeline.Event{Kind: timeline.MountBusy, Container: cmp.Or(idAfter(r.Text, "/containers/"), idAfter(r.Text, "layer ")), Note: note(r.Text)}
	e.Object = note(r.Text[bytes.LastIndexByte(r.Text[:i], ' ')+1 : i])
	t.say(r, dockerd, e)
}

func (t *Parser) dockerStarted(r *records.Record) {
	t.say(r, dockerd, timeline.Event{Kind: timeline.RuntimeStarted})
}
