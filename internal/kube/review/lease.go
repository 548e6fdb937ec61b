package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A Lease is the object in which an agent publishes its identity. Pod owns it: it goes with the
// agent's pod, and so with the node.
type Lease struct {
	Namespace, Name string
	Annotations     map[string]string
	Pod, PodUID     string
	Renewed         time.Time // makes each write one that changes something
}

// Publish writes the Lease by server-side apply: one request, whether it exists or not. It gives the
// revision that the API server's data has then; 0 if that is no number.
func (r *Reviewer) Publish(ctx context.Context, l Lease) (revision uint64, err error) {
	if l.Namespace == "" || l.Name == "" || l.Pod == "" || l.PodUID == "" {
		return 0, errors.New("publish the agent's key: namespace, pod and its UID are needed (POD_NAMESPACE, POD_NAME, POD_UID)")
	}
	o := leaseObject{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}
	o.Metadata.Name, o.Metadata.Namespace, o.Metadata.Annotations = l.Name, l.Namespace, l.Annotations
	o.Metadata.OwnerReferences = []ownerReference{{APIVersion: "v1", Kind: "Pod", Name: l.Pod, UID: l.PodUID}}
	o.Spec.HolderIdentity = l.Pod
	if !l.Renewed.IsZero() {
		o.Spec.RenewTime = l.Renewed.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	}
	body, err := json.Marshal(o)
	if err != nil {
		return 0, err
	}
	q := request{
		method: http.MethodPatch, path: l.path(), kind: "application/apply-patch+yaml", body: body,
		query: url.Values{"fieldManager": {"plumbline-agent"}, "force": {"true"}},
	}
	var answer leaseObject
	if err := r.send(ctx, q, &answer); err != nil {
		return 0, fmt.Errorf("publish the agent's key in lease %s/%s: %w", l.Namespace, l.Name, err)
	}
	return answer.revision(), nil
}

// Published reads the annotations of the Lease, and the revision of its last change; none and 0 if it
// does not exist.
func (r *Reviewer) Published(ctx context.Context, l Lease) (annotations map[string]string, revision uint64, err error) {
	var o leaseObject
	switch err := r.get(ctx, l.path(), "", &o); {
	case errors.Is(err, codeError(http.StatusNotFound)):
		return nil, 0, nil
	case err != nil:
		return nil, 0, fmt.Errorf("read lease %s/%s: %w", l.Namespace, l.Name, err)
	}
	return o.Metadata.Annotations, o.revision(), nil
}

func (o *leaseObject) revision() uint64 {
	n, _ := strconv.ParseUint(o.Metadata.ResourceVersion, 10, 64) // another datastore than etcd may not count
	return n
}

func (l *Lease) path() string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + url.PathEscape(l.Namespace) + "/leases/" + url.PathEscape(l.Name)
}

type leaseObject struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name            string            `json:"name"`
		Namespace       string            `json:"namespace"`
		ResourceVersion string            `json:"resourceVersion,omitempty"`
		Annotations     map[string]string `json:"annotations,omitempty"`
		OwnerReferences []ownerReference  `json:"ownerReferences,omitempty"`
	} `json:"metadata"`
	Spec struct {
		HolderIdentity string `json:"holderIdentity"`
		RenewTime      string `json:"renewTime,omitempty"`
	} `json:"spec"`
}

type ownerReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
}
