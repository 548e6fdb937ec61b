package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// A Lease is the object in which an agent publishes its identity. Pod owns it: it goes with the
// agent's pod, and so with the node.
type Lease struct {
	Namespace, Name string
	Annotations     map[string]string
	Pod, PodUID     string
}

// Publish writes the Lease by server-side apply: one request, whether it exists or not, which
// changes nothing if it already is so.
func (r *Reviewer) Publish(ctx context.Context, l Lease) error {
	if l.Namespace == "" || l.Name == "" || l.Pod == "" || l.PodUID == "" {
		return errors.New("publish the agent's key: namespace, pod and its UID are needed (POD_NAMESPACE, POD_NAME, POD_UID)")
	}
	o := leaseObject{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}
	o.Metadata.Name, o.Metadata.Namespace, o.Metadata.Annotations = l.Name, l.Namespace, l.Annotations
	o.Metadata.OwnerReferences = []ownerReference{{APIVersion: "v1", Kind: "Pod", Name: l.Pod, UID: l.PodUID}}
	o.Spec.HolderIdentity = l.Pod
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	q := request{
		method: http.MethodPatch, path: l.path(), kind: "application/apply-patch+yaml", body: body,
		query: url.Values{"fieldManager": {"plumbline-agent"}, "force": {"true"}},
	}
	var answer leaseObject
	if err := r.send(ctx, q, &answer); err != nil {
		return fmt.Errorf("publish the agent's key in lease %s/%s: %w", l.Namespace, l.Name, err)
	}
	return nil
}

// Published reads the annotations of the Lease; none if it does not exist.
func (r *Reviewer) Published(ctx context.Context, l Lease) (map[string]string, error) {
	var o leaseObject
	switch err := r.get(ctx, l.path(), "", &o); {
	case errors.Is(err, codeError(http.StatusNotFound)):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read lease %s/%s: %w", l.Namespace, l.Name, err)
	}
	return o.Metadata.Annotations, nil
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
		Annotations     map[string]string `json:"annotations,omitempty"`
		OwnerReferences []ownerReference  `json:"ownerReferences,omitempty"`
	} `json:"metadata"`
	Spec struct {
		HolderIdentity string `json:"holderIdentity"`
	} `json:"spec"`
}

type ownerReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
}
