package repair

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// A PodSource is a pod as Kubernetes has it now.
type PodSource struct {
	JSON json.RawMessage
	UID  string // that it must have
}

// A NodeSource is what the pod's node says of it.
type NodeSource struct {
	Node      string // as Kubernetes calls it
	Name      string // as its CNI configuration calls it
	Container string
	Device    string // of the host
	MAC       string // of the device in the pod
	IPs       []netip.Addr
	UID       string // of the endpoint
	Created   model.Time
}

// An endpointBody is a WorkloadEndpoint with what Calico's CNI plugin writes of it, in its
// order (v3.31.0, cni-plugin/pkg/k8s/k8s.go). It writes no qosControls, whatever the pod is
// annotated with: those reach Felix only where pods themselves are the endpoints.
type endpointBody struct {
	Kind       string       `json:"kind"`
	APIVersion string       `json:"apiVersion"`
	Metadata   endpointMeta `json:"metadata"`
	Spec       endpointSpec `json:"spec"`
}

type endpointMeta struct {
	Name         string            `json:"name"`
	GenerateName string            `json:"generateName,omitempty"`
	Namespace    string            `json:"namespace"`
	UID          string            `json:"uid"`
	Created      string            `json:"creationTimestamp"`
	Labels       map[string]string `json:"labels"`
}

type endpointSpec struct {
	Orchestrator   string         `json:"orchestrator"`
	Node           string         `json:"node"`
	ContainerID    string         `json:"containerID"`
	Pod            string         `json:"pod"`
	Endpoint       string         `json:"endpoint"`
	ServiceAccount string         `json:"serviceAccountName,omitempty"`
	IPNetworks     []string       `json:"ipNetworks"`
	Profiles       []string       `json:"profiles"`
	Interface      string         `json:"interfaceName"`
	MAC            string         `json:"mac"`
	Ports          []endpointPort `json:"ports,omitempty"`
	Spoofed        []string       `json:"allowSpoofedSourcePrefixes,omitempty"`
}

// An endpointPort is written with all its fields, empty ones too.
type endpointPort struct {
	Name     string `json:"name"`
	Protocol string `json:"protocol"`
	Port     uint16 `json:"port"`
	HostPort uint16 `json:"hostPort"`
	HostIP   string `json:"hostIP"`
}

// Labels that Calico adds to those of the pod: policy selects by them.
const (
	labelNamespace      = "projectcalico.org/namespace"
	labelOrchestrator   = "projectcalico.org/orchestrator"
	labelServiceAccount = "projectcalico.org/serviceaccount"
)

// Annotations by which a pod asks Calico's plugin for more than an address.
const (
	annotationSpoofed  = "cni.projectcalico.org/allowedSourcePrefixes"
	annotationFloating = "cni.projectcalico.org/floatingIPs"
)

// EndpointBody gives the endpoint that Calico's CNI plugin writes for a pod. A label or a
// profile that is missing is a hole in policy: what cannot be written exactly is refused by
// name, and so is a plugin whose work on a healthy pod looks different from ours.
func EndpointBody(p PodSource, n NodeSource, healthy json.RawMessage) (json.RawMessage, error) {
	pod, err := readPodSource(p, n)
	if err != nil {
		return nil, err
	}
	m, sa := &pod.Metadata, pod.Spec.ServiceAccount
	mac := hardware(n.MAC)
	if mac == "" {
		return nil, fmt.Errorf("pod %s/%s: its device has no address of its own: %q", m.Namespace, m.Name, n.MAC)
	}
	if n.Name == "" || n.Container == "" || n.Device == "" || n.UID == "" || n.Created.IsZero() || len(n.IPs) == 0 {
		return nil, fmt.Errorf("pod %s/%s: its node did not say enough of it", m.Namespace, m.Name)
	}
	e := endpointBody{
		Kind: "WorkloadEndpoint", APIVersion: "projectcalico.org/v3",
		Metadata: endpointMeta{
			Name: model.EndpointIn(n.Name, m.Name), GenerateName: m.GenerateName, Namespace: m.Namespace,
			UID: n.UID, Created: n.Created.String(), Labels: endpointLabels(m.Labels, m.Namespace, sa),
		},
		Spec: endpointSpec{
			Orchestrator: "k8s", Node: n.Name, ContainerID: n.Container, Pod: m.Name, Endpoint: podDevice, ServiceAccount: sa,
			Profiles: endpointProfiles(m.Namespace, sa), Interface: n.Device, MAC: mac,
		},
	}
	for _, ip := range n.IPs {
		e.Spec.IPNetworks = append(e.Spec.IPNetworks, netip.PrefixFrom(ip, ip.BitLen()).String())
	}
	if e.Spec.Ports, err = pod.ports(); err != nil {
		return nil, err
	}
	if e.Spec.Spoofed, err = spoofed(m.Annotations[annotationSpoofed]); err != nil {
		return nil, fmt.Errorf("pod %s/%s: %s: %w", m.Namespace, m.Name, annotationSpoofed, err)
	}
	if err := e.like(healthy); err != nil {
		return nil, fmt.Errorf("the plugin writes endpoints differently here: %w", err)
	}
	return json.Marshal(e)
}

func endpointLabels(pod map[string]string, namespace, sa string) map[string]string {
	out := with(pod, map[string]string{labelNamespace: namespace, labelOrchestrator: "k8s"})
	if sa != "" && len(sa) < 63 {
		out[labelServiceAccount] = sa
	}
	return out
}

func endpointProfiles(namespace, sa string) []string {
	out := []string{"kns." + namespace}
	if sa != "" {
		out = append(out, "ksa."+namespace+"."+sa)
	}
	return out
}

// spoofed are the ranges that a pod may send from besides its own address.
func spoofed(annotation string) ([]string, error) {
	if annotation == "" {
		return nil, nil
	}
	var asked, out []string
	if err := json.Unmarshal([]byte(annotation), &asked); err != nil {
		return nil, err
	}
	for _, text := range asked {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		out = append(out, p.Masked().String())
	}
	return out, nil
}

var errNotThatPod = errors.New("it is not the pod that was looked at")
