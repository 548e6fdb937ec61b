package change

import (
	"bytes"
	"encoding/json"
	"errors"
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
		Interface   string   `json:"interfaceName"`
	} `json:"spec"`
	Metadata struct {
		Namespace string `json:"namespace"`
	} `json:"metadata"`
}

// Reads names the endpoint that the pod keeps, or the blocks of the addresses.
func (e *Endpoint) Reads(model.Ref, model.Object) ([]model.Ref, error) {
	if !e.replaced() {
		return blockRefs(e.Blocks), nil
	}
	return []model.Ref{e.Instead}, nil
}

// Edit creates an endpoint, changes its containerID, or deletes it.
func (e *Endpoint) Edit(sc Scene) (Edited, error) {
	var is, want endpointIs
	if sc.Live.There() {
		if err := json.Unmarshal(sc.Live.Body, &is); err != nil {
			return Edited{}, fmt.Errorf("%s: %w", sc.Live.Ref, err)
		}
	}
	if e.Want == nil {
		return e.delete(sc, is)
	}
	if err := json.Unmarshal(e.Want, &want); err != nil {
		return Edited{}, fmt.Errorf("%s: %w", sc.On, err)
	}
	if len(e.Blocks) > 0 { // an undo restores what was there
		if ip, err := unrecorded(&sc, e.Blocks, addressesOf(want.Spec.IPNetworks), want.Spec.ContainerID); err != nil || ip.IsValid() {
			return Edited{}, errors.Join(err, moved("IPAM does not have %s for the sandbox", ip))
		}
	}
	if sc.Live.There() {
		return e.changeSandbox(sc, is, want)
	}
	o := sc.Live
	o.Body = e.Want
	return sc.edited(o, nil, e.Want)
}

func (e *Endpoint) delete(sc Scene, is endpointIs) (Edited, error) {
	if !sc.Live.There() {
		return Edited{}, ErrAlready
	}
	if is.Spec.ContainerID != e.Container {
		return Edited{}, moved("the endpoint names sandbox %.8s now", is.Spec.ContainerID)
	}
	if err := e.otherStays(sc, is); err != nil {
		return Edited{}, err
	}
	out, err := sc.deleted(sc.Live.Body, nil)
	if !e.replaced() && e.Container != "" {
		for _, f := range out.For {
			out.Ends = append(out.Ends, Ending{For: f, Container: e.Container, Node: is.Spec.Node})
		}
	}
	return out, err
}

// otherStays checks that the running pod still has its other endpoint: same sandbox and pod,
// other node. Only then may this one be deleted.
func (e *Endpoint) otherStays(sc Scene, is endpointIs) error {
	if !e.replaced() {
		return nil
	}
	ref := e.Instead
	o := sc.Also[ref]
	if !o.There() {
		return moved("%s, the other endpoint of the pod, is gone", ref)
	}
	var other endpointIs
	if err := json.Unmarshal(o.Body, &other); err != nil {
		return fmt.Errorf("%s: %w", ref, err)
	}
	if other.Spec.ContainerID != e.Container || other.Spec.Pod != is.Spec.Pod || other.Spec.Node == is.Spec.Node {
		return moved("%s does not name the same pod and sandbox on another node", ref)
	}
	return nil
}

// changeSandbox changes the containerID of an existing endpoint, and nothing else.
func (e *Endpoint) changeSandbox(sc Scene, is, want endpointIs) (Edited, error) {
	switch is.Spec.ContainerID {
	case want.Spec.ContainerID:
		return Edited{}, ErrAlready
	case e.Container:
	default:
		return Edited{}, moved("the endpoint names sandbox %.8s now", is.Spec.ContainerID)
	}
	body, err := setField(sc.Live.Body, want.Spec.ContainerID, "spec", "containerID")
	if err != nil {
		return Edited{}, fmt.Errorf("%s: %w", sc.Live.Ref, err)
	}
	o := sc.Live
	o.Body = body
	return sc.edited(o, map[string]string{"containerID": is.Spec.ContainerID}, map[string]string{"containerID": want.Spec.ContainerID})
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
