package planner

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// maxPodSource bounds the JSON that is parsed. The limit of the API server is lower.
const maxPodSource = 4 << 20

// podFields has the fields that Calico's CNI plugin reads of a pod.
type podFields struct {
	Metadata struct {
		Name         string            `json:"name"`
		Namespace    string            `json:"namespace"`
		UID          string            `json:"uid"`
		GenerateName string            `json:"generateName"`
		Labels       map[string]string `json:"labels"`
		Annotations  map[string]string `json:"annotations"`
		Deleted      string            `json:"deletionTimestamp"`
	} `json:"metadata"`
	Spec struct {
		Node           string            `json:"nodeName"`
		ServiceAccount string            `json:"serviceAccountName"`
		HostNetwork    bool              `json:"hostNetwork"`
		Containers     []containerSource `json:"containers"`
		Init           []containerSource `json:"initContainers"`
	} `json:"spec"`
}

type containerSource struct {
	Ports []struct {
		Name     string `json:"name"`
		Port     int    `json:"containerPort"`
		HostPort int    `json:"hostPort"`
		HostIP   string `json:"hostIP"`
		Protocol string `json:"protocol"`
	} `json:"ports"`
}

// readPodSource parses a pod. It returns an error if it is not the expected pod, or if the
// pod requests something that Plumbline does not write.
func readPodSource(p podSource, n nodeSource) (*podFields, error) {
	var pod podFields
	if len(p.JSON) > maxPodSource {
		return nil, errors.New("read pod: larger than 4 MB")
	}
	if err := json.Unmarshal(p.JSON, &pod); err != nil {
		return nil, fmt.Errorf("read pod: %w", err)
	}
	m := &pod.Metadata
	switch {
	case m.Name == "" || m.Namespace == "" || p.UID == "" || m.UID != p.UID || pod.Spec.Node != n.Node:
		return nil, fmt.Errorf("pod %s/%s: %w", m.Namespace, m.Name, errNotThatPod)
	case m.Deleted != "" || pod.Spec.HostNetwork:
		return nil, fmt.Errorf("pod %s/%s: it is being deleted, or uses the host network", m.Namespace, m.Name)
	case m.Annotations[annotationFloating] != "":
		return nil, fmt.Errorf("pod %s/%s: it has the annotation %s, which Plumbline does not write", m.Namespace, m.Name, annotationFloating)
	}
	return &pod, nil
}

// ports gives the ports with a name or a host port. Policy refers to ports by name.
func (p *podFields) ports() ([]endpointPort, error) {
	var out []endpointPort
	for _, c := range slices.Concat(p.Spec.Containers, p.Spec.Init) {
		for _, q := range c.Ports {
			if q.Port == 0 || q.HostPort == 0 && q.Name == "" {
				continue
			}
			if q.Port < 0 || q.Port > math.MaxUint16 || q.HostPort < 0 || q.HostPort > math.MaxUint16 {
				return nil, fmt.Errorf("pod %s/%s: port %d is not valid", p.Metadata.Namespace, p.Metadata.Name, q.Port)
			}
			protocol := q.Protocol
			switch protocol {
			case "":
				protocol = "TCP"
			case "TCP", "UDP", "SCTP":
			default:
				continue // as Calico does
			}
			out = append(out, endpointPort{q.Name, protocol, uint16(q.Port), uint16(q.HostPort), q.HostIP})
		}
	}
	return out, nil
}

// endpointFields are the spec fields that Calico's CNI plugin writes. Another field means
// another version of the plugin, or another writer of endpoints.
var endpointFields = []string{
	"orchestrator", "node", "containerID", "pod", "endpoint", "serviceAccountName", "ipNetworks", "ipNATs",
	"profiles", "interfaceName", "mac", "ports", "allowSpoofedSourcePrefixes",
}

// like returns an error if the endpoint of a healthy pod has another form than e.
func (e *endpointBody) like(healthy json.RawMessage) error {
	if len(healthy) == 0 || len(healthy) > maxPodSource {
		return errors.New("no healthy endpoint to compare with")
	}
	var h endpointBody
	var fields struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if err := errors.Join(json.Unmarshal(healthy, &h), json.Unmarshal(healthy, &fields)); err != nil {
		return fmt.Errorf("read a healthy endpoint: %w", err)
	}
	for k := range fields.Spec {
		if !slices.Contains(endpointFields, k) {
			return fmt.Errorf("a healthy endpoint has the field %q", k)
		}
	}
	s, m := &h.Spec, &h.Metadata
	labels := endpointLabels(nil, m.Namespace, s.ServiceAccount)
	prefix, named := strings.CutSuffix(s.Interface, model.DeviceName("", m.Namespace, s.Pod))
	own, _ := strings.CutSuffix(e.Spec.Interface, model.DeviceName("", e.Metadata.Namespace, e.Spec.Pod))
	switch {
	case h.Kind != e.Kind || h.APIVersion != e.APIVersion || s.Orchestrator != e.Spec.Orchestrator || s.Endpoint != e.Spec.Endpoint:
		return fmt.Errorf("a healthy endpoint is %s %s of orchestrator %s for %s", h.APIVersion, h.Kind, s.Orchestrator, s.Endpoint)
	case m.Name != model.EndpointIn(s.Node, s.Pod):
		return fmt.Errorf("a healthy endpoint has the name %s", m.Name)
	case !slices.Equal(s.Profiles, endpointProfiles(m.Namespace, s.ServiceAccount)):
		return fmt.Errorf("a healthy endpoint has the profiles %s", strings.Join(s.Profiles, ", "))
	case !carries(m.Labels, labels):
		return errors.New("a healthy endpoint lacks labels of namespace, orchestrator or service account")
	case !named || prefix != own:
		return fmt.Errorf("a healthy endpoint has the device %s", s.Interface)
	default:
		return nil
	}
}

// carries reports that all has the labels that are wanted.
func carries(all, want map[string]string) bool {
	for k, v := range want {
		if all[k] != v {
			return false
		}
	}
	return true
}
