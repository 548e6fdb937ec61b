package parse

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

var (
	needleAudit    = []byte(`audit.k8s.io/`)
	needleVerb     = []byte(`verb":"`)
	needleResource = []byte(`resource":"`)
	needleComplete = []byte(`"stage":"ResponseComplete"`)
	needleBody     = []byte(`"requestObject":`)
)

// ofAudit reports whether a line is of an audit log: its API version is near its beginning.
func ofAudit(text []byte) bool { return bytes.Contains(text[:min(len(text), 128)], needleAudit) }

// wantsAudit rejects what cannot become an event. The API server writes the verb before the
// object reference, and that before the body.
func wantsAudit(text []byte) bool {
	verb, rest := stringAfter(text, needleVerb)
	if len(verb) == 0 || verb[0] == 'g' || verb[0] == 'l' || verb[0] == 'w' { // get, list, watch
		return false
	}
	of, rest := stringAfter(rest, needleResource)
	want, ok := auditedVerbs[string(of)]
	if !ok || want.verbs != nil && !slices.Contains(want.verbs, string(verb)) || want.body && !bytes.Contains(rest, needleBody) {
		return false
	}
	return bytes.Contains(text, needleComplete)
}

// auditedVerbs are the resources whose requests can become an event: with which verbs (nil
// means all that write) and whether the body is needed.
var auditedVerbs = map[string]struct {
	verbs []string
	body  bool
}{
	"pods":              {},
	"workloadendpoints": {},
	"events":            {[]string{"create"}, true},
	"nodes":             {[]string{"patch", "update"}, true},
	"ipamhandles":       {[]string{"create", "delete"}, false},
}

// stringAfter gives the text between a needle and the next quote, and the rest from the quote.
func stringAfter(text, needle []byte) (s, rest []byte) {
	i := bytes.Index(text, needle)
	if i < 0 {
		return nil, nil
	}
	text = text[i+len(needle):]
	end := bytes.IndexByte(text, '"')
	if end < 0 {
		return nil, nil
	}
	return text[:end], text[end:]
}

// An auditLine has the fields of an audit event that are used. RequestObject is present only if
// the cluster's audit policy logs it.
type auditLine struct {
	Verb           string
	User           struct{ Username string }
	UserAgent      string
	StageTimestamp string
	ObjectRef      struct{ Resource, Subresource, Namespace, Name, UID string }
	ResponseStatus struct{ Code int }
	RequestObject  json.RawMessage
}

func (t *Parser) audit(r *records.Record) {
	var a auditLine
	if len(r.Text) > maxJSON || !a.decode(r.Text) || a.ResponseStatus.Code >= 300 {
		return
	}
	e := timeline.Event{Note: a.who()}
	if at, err := time.Parse(time.RFC3339, a.StageTimestamp); err == nil {
		e.At = at
	}
	if node, ok := strings.CutPrefix(a.User.Username, "system:node:"); ok {
		e.Node = nodeName([]byte(node))
	}
	switch a.ObjectRef.Resource {
	case "pods":
		e.Pod, e.UID = newPod([]byte(a.ObjectRef.Namespace+"/"+a.ObjectRef.Name)), uidOf([]byte(a.ObjectRef.UID))
		t.auditPod(r, &a, e)
	case "ipamhandles":
		t.auditHandle(r, &a, e)
	case "workloadendpoints":
		t.auditEndpoint(r, &a, e)
	case "nodes":
		t.auditNode(r, &a, e)
	case "events":
		if len(a.RequestObject) > 0 && a.Verb == "create" {
			t.eventOf(r, a.RequestObject)
		}
	}
}

// who gives verb, user and program of the request.
func (a *auditLine) who() string {
	with, _, _ := strings.Cut(a.UserAgent, " ")
	return note([]byte(a.Verb + " by " + a.User.Username + " with " + with))
}

// auditHandle reports IPAM handles. A handle that is created means that its address is about to
// be assigned; one that is deleted was decremented or marked before.
func (t *Parser) auditHandle(r *records.Record, a *auditLine, e timeline.Event) {
	e.Kind = map[string]timeline.Kind{"create": timeline.AddressAssigned, "delete": timeline.HandleReleased}[a.Verb]
	e.Object = id([]byte(a.ObjectRef.Name))
	e.Sandbox = timeline.SandboxOf(e.Object)
	if e.Kind != timeline.Nothing {
		t.sayOf(r, "audit", e)
	}
}

// auditEndpoint reports WorkloadEndpoints that are objects of their own.
func (t *Parser) auditEndpoint(r *records.Record, a *auditLine, e timeline.Event) {
	var body struct {
		Spec struct{ Pod, ContainerID, Node string }
	}
	_ = json.Unmarshal(a.RequestObject, &body) // without a body it stays empty
	switch a.Verb {
	case "create", "update", "patch":
		e.Kind = timeline.EndpointWritten
	case "delete":
		e.Kind = timeline.EndpointDeleted
	default:
		return
	}
	e.Object = id([]byte(a.ObjectRef.Name))
	e.Pod, e.Sandbox = newPod([]byte(a.ObjectRef.Namespace+"/"+body.Spec.Pod)), containerID([]byte(body.Spec.ContainerID))
	t.sayOf(r, "audit", e)
}
