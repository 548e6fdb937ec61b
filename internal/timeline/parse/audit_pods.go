package parse

import (
	"cmp"
	"encoding/json"
	"strings"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// podBody has the fields that are used of requests about a pod: options of a delete, a binding,
// a patch of the status or of annotations.
type podBody struct {
	GracePeriodSeconds *int
	Preconditions      struct{ UID string }
	Target             struct{ Name string }
	Spec               struct{ NodeName string }
	Metadata           struct {
		UID         string
		Annotations map[string]*string
	}
	Status struct{ PodIP string }
}

// The annotations of a pod that hold its endpoint if Calico uses the Kubernetes datastore: an
// endpoint is deleted by emptying them.
const (
	annotatedIP        = "cni.projectcalico.org/podIP"
	annotatedContainer = "cni.projectcalico.org/containerID"
)

// auditPod emits what a request did to a pod, if it concerns its life, node or endpoint.
func (t *Parser) auditPod(r *records.Record, a *auditLine, e timeline.Event) {
	var body podBody
	body.decode(a.RequestObject) // the audit policy may omit it
	e.UID = cmp.Or(e.UID, uidOf([]byte(body.Preconditions.UID)), uidOf([]byte(body.Metadata.UID)))
	switch a.Verb + "/" + a.ObjectRef.Subresource {
	case "delete/", "create/eviction":
		terminating(&e, &body, a.User.Username)
	case "create/":
		e.Kind, e.Node = timeline.PodSeen, nodeName([]byte(body.Spec.NodeName))
	case "create/binding":
		if body.Target.Name != "" {
			e.Kind, e.Node = timeline.PodSeen, nodeName([]byte(body.Target.Name))
		}
	case "patch/", "update/":
		patched(&e, &body)
	case "patch/status", "update/status":
		patched(&e, &body)
		if e.Kind == timeline.Nothing && e.Node != "" {
			e.Kind = timeline.PodSeen // by its kubelet, which shows its node
		}
	}
	if e.Kind != timeline.Nothing && e.Pod != "" {
		t.sayOf(r, "audit", e)
	}
}

// terminating marks a pod that this user deletes or evicts. The last request of its kubelet
// has grace period 0: then the pod is gone.
func terminating(e *timeline.Event, body *podBody, user string) {
	e.Kind = timeline.PodTerminating
	if body.GracePeriodSeconds == nil || *body.GracePeriodSeconds != 0 {
		return
	}
	e.Note += ", grace period 0"
	if strings.HasPrefix(user, "system:node:") {
		e.Kind = timeline.PodGone
	}
}

// patched distinguishes an endpoint that is written from one that is deleted, and both from a
// status.
func patched(e *timeline.Event, body *podBody) {
	ip, there := body.Metadata.Annotations[annotatedIP]
	switch {
	case there && (ip == nil || *ip == ""):
		e.Kind, e.Object = timeline.EndpointDeleted, "annotations of pod "+e.Pod
	case there:
		e.Kind, e.Object = timeline.EndpointWritten, "annotations of pod "+e.Pod
		e.Address = leadingAddress([]byte(*ip))
		if of := body.Metadata.Annotations[annotatedContainer]; of != nil {
			e.Sandbox = containerID([]byte(*of))
		}
	case body.Status.PodIP != "":
		e.Kind, e.Address = timeline.PodSeen, leadingAddress([]byte(body.Status.PodIP))
	}
}

// auditNode reports nodes that are marked as not ready.
func (t *Parser) auditNode(r *records.Record, a *auditLine, e timeline.Event) {
	var body struct {
		Spec struct {
			Taints []struct{ Key string }
		}
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if a.Verb != "patch" && a.Verb != "update" || json.Unmarshal(a.RequestObject, &body) != nil {
		return
	}
	e.Node = nodeName([]byte(a.ObjectRef.Name))
	for _, c := range body.Status.Conditions {
		if c.Type == "Ready" && (c.Status == "False" || c.Status == "Unknown") {
			e.Kind, e.Note = timeline.NodeNotReady, note([]byte(e.Note+": "+c.Message))
		}
	}
	for _, taint := range body.Spec.Taints {
		if taint.Key == "node.kubernetes.io/unreachable" {
			e.Kind = timeline.NodeNotReady
		}
	}
	if e.Kind != timeline.Nothing {
		t.sayOf(r, "audit", e)
	}
}
