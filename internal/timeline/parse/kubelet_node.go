package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// kubeletStarted reports a start, with the version if the line has it.
func (t *Parser) kubeletStarted(r *records.Record) {
	version := field(r.Text, "kubeletVersion")
	if version == nil {
		_, version, _ = bytes.Cut(r.Text, []byte("kubelet "))
	}
	t.fromKubelet(r, timeline.Event{Kind: timeline.KubeletStarted, Note: note(version)})
}

// nodeTold parses lines of the kubelet and the controller manager about a node's readiness.
func (t *Parser) nodeTold(r *records.Record) {
	e := timeline.Event{Node: nodeName(field(r.Text, "node"))}
	switch {
	case hasPrefix(r.Text, `"Node became not ready`):
		e.Kind = timeline.NodeNotReady
		_, condition, _ := bytes.Cut(r.Text, []byte("condition="))
		e.Note = note(condition)
	case hasPrefix(r.Text, `"Node is healthy again`):
		e.Kind = timeline.NodeReady
	default:
		what := field(r.Text, "event")
		if what == nil {
			what = field(r.Text, "status")
		}
		switch string(what) {
		case "NodeNotReady":
			// The kubelet logged it just before, with the reason.
			if r.Origin != "kubelet_node_status.go" {
				e.Kind = timeline.NodeNotReady
			}
		case "NodeReady":
			e.Kind = timeline.NodeReady
		}
	}
	t.ofNode(r, e)
}

// nodeTold2017 parses the same in the format of 2017: `Recording NodeReady event message for node NAME`.
func (t *Parser) nodeTold2017(r *records.Record) {
	e := timeline.Event{}
	_, of, _ := bytes.Cut(r.Text, []byte("for node "))
	e.Node = nodeName(bytes.TrimSpace(of))
	switch {
	case hasPrefix(r.Text, "Node became not ready"):
		e.Kind, e.Node, e.Note = timeline.NodeNotReady, "", note(failure(r.Text))
	case indexString(r.Text, " NodeNotReady ") >= 0:
		e.Kind = timeline.NodeNotReady
	case indexString(r.Text, " NodeReady ") >= 0:
		e.Kind = timeline.NodeReady
	}
	t.ofNode(r, e)
}

// ofNode emits an event of a node: the kubelet's own, or any for the controller manager.
func (t *Parser) ofNode(r *records.Record, e timeline.Event) {
	switch {
	case e.Kind == timeline.Nothing:
	case r.Origin == "setters.go" || r.Origin == "kubelet_node_status.go":
		t.fromKubelet(r, e)
	default:
		t.sayOf(r, "controller-manager", e)
	}
}

// evicted reads that the controller manager deletes a pod because of its node's taints.
func (t *Parser) evicted(r *records.Record) {
	pod := newPod(field(r.Text, "pod"))
	if pod == "" { // as an object: {"Namespace":"…","Name":"…"}
		pod = podNamed(member(r.Text, "Namespace"), member(r.Text, "Name"))
	}
	if pod != "" {
		t.sayOf(r, "controller-manager", timeline.Event{Kind: timeline.PodTerminating, Pod: pod, Note: "deleted because of taints of its node"})
	}
}

// nodeName gives b if it may be a node's name.
func nodeName(b []byte) string {
	if !plainName(b) {
		return ""
	}
	return string(b)
}
