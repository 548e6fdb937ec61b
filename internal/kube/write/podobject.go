package write

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
)

type podObject struct {
	Metadata struct {
		kube.ObjectMeta
		Labels            map[string]string `json:"labels"`
		DeletionTimestamp *string           `json:"deletionTimestamp"`
		OwnerReferences   []struct {
			Kind       string `json:"kind"`
			Name       string `json:"name"`
			Controller bool   `json:"controller"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		NodeName    string `json:"nodeName"`
		HostNetwork bool   `json:"hostNetwork"`
	} `json:"spec"`
	Status struct {
		Phase      model.Phase `json:"phase"`
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
		PodIP  string `json:"podIP"`
		PodIPs []struct {
			IP string `json:"ip"`
		} `json:"podIPs"`
	} `json:"status"`
}

func readPod(b []byte) (podObject, error) {
	var o podObject
	err := json.Unmarshal(b, &o)
	return o, err
}

// parsePod returns the fields of a pod that repairs use.
func parsePod(b []byte) (model.Object, error) {
	p, err := readPod(b)
	if err != nil {
		return model.Object{}, err
	}
	m := &p.Metadata
	note := m.Annotations
	_, annotated := note[kube.AnnotationPodIP]
	body := model.PodBody{
		Node: p.Spec.NodeName, Phase: p.Status.Phase, Deleted: m.DeletionTimestamp != nil, HostNetwork: p.Spec.HostNetwork, IPs: p.addresses(),
		PodIP: note[kube.AnnotationPodIP], PodIPs: note[kube.AnnotationPodIPs], ContainerID: note[kube.AnnotationContainerID], Static: note[kube.AnnotationMirror], Annotated: annotated,
	}
	for _, c := range p.Status.Conditions {
		body.Ready = body.Ready || c.Type == "Ready" && c.Status == "True"
	}
	for _, o := range m.OwnerReferences {
		if o.Controller {
			body.Owner = o.Kind + "/" + o.Name
		}
	}
	return object(model.KindPod, m.ObjectMeta, body)
}

// addresses are those of the status, in canonical form.
func (p *podObject) addresses() []netip.Addr {
	out := []netip.Addr{}
	texts := make([]string, 0, len(p.Status.PodIPs)+1)
	for _, i := range p.Status.PodIPs {
		texts = append(texts, i.IP)
	}
	if len(texts) == 0 {
		texts = append(texts, p.Status.PodIP)
	}
	for _, t := range texts {
		if a, err := netip.ParseAddr(t); err == nil {
			out = append(out, a.Unmap())
		}
	}
	return out
}

// object builds what a Store returns. An object without UID or revision cannot be compared
// later and is refused.
func object(kind model.Kind, m kube.ObjectMeta, body any) (model.Object, error) {
	name := m.Name
	if m.Namespace != "" {
		name = m.Namespace + "/" + m.Name
	}
	o := model.Object{Ref: model.Ref{Kind: kind, Name: name}, UID: m.UID, Revision: m.ResourceVersion}
	if o.UID == "" || o.Revision == "" {
		return model.Object{}, errors.New("no UID or no revision in the answer")
	}
	if body == nil {
		return o, nil
	}
	var err error
	o.Body, err = json.Marshal(body)
	return o, err
}

// patchOf is the patch of a pod. A body without any of the three values, and not annotated,
// removes the annotations: that was the state before a step.
func patchOf(o model.Object) ([]byte, error) {
	var b model.PodBody
	if err := json.Unmarshal(o.Body, &b); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Ref, err)
	}
	var p podPatch
	p.Metadata.UID, p.Metadata.ResourceVersion = o.UID, o.Revision
	p.Metadata.Annotations = map[string]*string{kube.AnnotationPodIP: &b.PodIP, kube.AnnotationPodIPs: &b.PodIPs, kube.AnnotationContainerID: &b.ContainerID}
	if !b.Annotated && b.PodIP == "" && b.PodIPs == "" && b.ContainerID == "" {
		p.Metadata.Annotations = map[string]*string{kube.AnnotationPodIP: nil, kube.AnnotationPodIPs: nil, kube.AnnotationContainerID: nil}
	}
	return json.Marshal(p)
}
