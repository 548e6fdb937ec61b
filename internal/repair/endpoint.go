package repair

import (
	"bytes"
	"encoding/json"
	"fmt"

	"plumbline.dev/plumbline/internal/model"
)

// endpointIs has the fields of a WorkloadEndpoint that Edit compares.
type endpointIs struct {
	Spec struct {
		ContainerID string   `json:"containerID"`
		Pod         string   `json:"pod"`
		Node        string   `json:"node"`
		IPNetworks  []string `json:"ipNetworks"`
	} `json:"spec"`
	Metadata struct {
		Namespace string `json:"namespace"`
	} `json:"metadata"`
}

// editEndpoint creates an endpoint, changes its containerID, or deletes it.
func (s *Step) editEndpoint(sc Scene) (Edited, error) {
	e := s.Endpoint
	var is, want endpointIs
	if sc.Live.There() {
		if err := json.Unmarshal(sc.Live.Body, &is); err != nil {
			return Edited{}, fmt.Errorf("%s: %w", sc.Live.Ref, err)
		}
	}
	if e.Want == nil {
		if !sc.Live.There() {
			return Edited{}, ErrAlready
		}
		if is.Spec.ContainerID != e.Container {
			return Edited{}, moved("the endpoint names sandbox %.8s now", is.Spec.ContainerID)
		}
		if err := s.instead(sc, is); err != nil {
			return Edited{}, err
		}
		out, err := s.complete(sc, sc.Live, sc.Live.Body, nil)
		out.Delete = true
		return out, err
	}
	if err := json.Unmarshal(e.Want, &want); err != nil {
		return Edited{}, fmt.Errorf("%s: %w", s.On, err)
	}
	if sc.Live.There() {
		return s.sandboxOfEndpoint(sc, is, want)
	}
	o := sc.Live
	o.Body = e.Want
	return s.complete(sc, o, nil, e.Want)
}

// instead checks that the running pod still has its other endpoint: same sandbox and pod,
// other node. Only then may this one be deleted.
func (s *Step) instead(sc Scene, is endpointIs) error {
	ref := s.Endpoint.Instead
	if ref == (model.Ref{}) {
		return nil
	}
	o := sc.Also[ref]
	if !o.There() {
		return moved("%s, the other endpoint of the pod, is gone", ref)
	}
	var other endpointIs
	if err := json.Unmarshal(o.Body, &other); err != nil {
		return fmt.Errorf("%s: %w", ref, err)
	}
	if other.Spec.ContainerID != s.Endpoint.Container || other.Spec.Pod != is.Spec.Pod || other.Spec.Node == is.Spec.Node {
		return moved("%s does not name the same pod and sandbox on another node", ref)
	}
	return nil
}

// sandboxOfEndpoint changes the containerID of an existing endpoint, and nothing else.
func (s *Step) sandboxOfEndpoint(sc Scene, is, want endpointIs) (Edited, error) {
	switch is.Spec.ContainerID {
	case want.Spec.ContainerID:
		return Edited{}, ErrAlready
	case s.Endpoint.Container:
	default:
		return Edited{}, moved("the endpoint names sandbox %.8s now", is.Spec.ContainerID)
	}
	body, err := setField(sc.Live.Body, want.Spec.ContainerID, "spec", "containerID")
	if err != nil {
		return Edited{}, fmt.Errorf("%s: %w", sc.Live.Ref, err)
	}
	o := sc.Live
	o.Body = body
	return s.complete(sc, o, map[string]string{"containerID": is.Spec.ContainerID}, map[string]string{"containerID": want.Spec.ContainerID})
}

// setField changes one field of raw JSON. All other fields keep their bytes, numbers included.
func setField(raw json.RawMessage, value any, path ...string) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	inner, err := json.Marshal(value)
	if len(path) > 1 && err == nil {
		inner, err = setField(all[path[0]], value, path[1:]...)
	}
	if err != nil {
		return nil, err
	}
	all[path[0]] = inner
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(all); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}
