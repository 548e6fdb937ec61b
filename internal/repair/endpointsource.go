package repair

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// maxPodSource bounds a pod that we are willing to parse; the API server's own limit is
// below.
const maxPodSource = 4 << 20

// A podSource is what Calico's plugin reads of a pod.
type podSource struct {
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

// readPodSource reads a pod, and refuses one that is not the one or asks for what we do
// not write.
func readPodSource(p PodSource, n NodeSource) (*podSource, error) {
	var pod podSource
	if len(p.JSON) > maxPodSource {
		return nil, errors.New("read pod: it is larger than any")
	}
	if err := json.Unmarshal(p.JSON, &pod); err != nil {
		return nil, fmt.Errorf("read pod: %w", err)
	}
	m := &pod.Metadata
	switch {
	case m.Name == "" || m.Namespace == "" || p.UID == "" || m.UID != p.UID || pod.Spec.Node != n.Node:
		return nil, fmt.Errorf("pod %s/%s: %w", m.Namespace, m.Name, errNotThatPod)
	case m.Deleted != "" || pod.Spec.HostNetwork:
		return nil, fmt.Errorf("pod %s/%s: it ends, or has no network of its own", m.Namespace, m.Name)
	case m.Annotations[annotationFloating] != "":
		return nil, fmt.Errorf("pod %s/%s: it asks for %s, which we do not write", m.Namespace, m.Name, annotationFloating)
	}
	return &pod, nil
}

// ports are those that have a name or are the host's: policy speaks of them by name.
func (p *podSource) ports() ([]endpointPort, error) {
	var out []endpointPort
	for _, c := range slices.Concat(p.Spec.Containers, p.Spec.Init) {
		for _, q := range c.Ports {
			if q.Port == 0 || q.HostPort == 0 && q.Name == "" {
				continue
			}
			if q.Port < 0 || q.Port > math.MaxUint16 || q.HostPort < 0 || q.HostPort > math.MaxUint16 {
				return nil, fmt.Errorf("pod %s/%s: port %d is none", p.Metadata.Namespace, p.Metadata.Name, q.Port)
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

// What Calico's plugin writes of an endpoint. A field beside these means that it is of
// another version, or that another writes endpoints too.
var endpointFields = []string{
	"orchestrator", "node", "containerID", "pod", "endpoint", "serviceAccountName", "ipNetworks", "ipNATs",
	"profiles", "interfaceName", "mac", "ports", "allowSpoofedSourcePrefixes",
}

// like tells why the endpoint of a healthy pod was not made as this one is.
func (e *endpointBody) like(healthy json.RawMessage) error {
	if len(healthy) == 0 || len(healthy) > maxPodSource {
		return errors.New("there is no healthy endpoint to compare with")
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
			return fmt.Errorf("a healthy endpoint has %q", k)
		}
	}
	s, m := &h.Spec, &h.Metadata
	labels := endpointLabels(nil, m.Namespace, s.ServiceAccount)
	prefix, named := strings.CutSuffix(s.Interface, model.DeviceName("", m.Namespace, s.Pod))
	own, _ := strings.CutSuffix(e.Spec.Interface, model.DeviceName("", e.Metadata.Namespace, e.Spec.Pod))
	switch {
	case h.Kind != e.Kind || h.APIVersion != e.APIVersion || s.Orchestrator != e.Spec.Orchestrator || s.Endpoint != e.Spec.Endpoint:
		return fmt.Errorf("a healthy one is %s %s of %s for %s", h.APIVersion, h.Kind, s.Orchestrator, s.Endpoint)
	case m.Name != model.EndpointIn(s.Node, s.Pod):
		return fmt.Errorf("a healthy one is called %s", m.Name)
	case !slices.Equal(s.Profiles, endpointProfiles(m.Namespace, s.ServiceAccount)):
		return fmt.Errorf("a healthy one has the profiles %s", strings.Join(s.Profiles, ", "))
	case !has(m.Labels, labels):
		return errors.New("a healthy one lacks labels of namespace, orchestrator or service account")
	case !named || prefix != own:
		return fmt.Errorf("a healthy one has the device %s", s.Interface)
	default:
		return nil
	}
}
