package planner

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// A podSource is a pod as the API server returns it now.
type podSource struct {
	JSON json.RawMessage
	UID  string // the UID that the pod must have
}

// A nodeSource is what the pod's node reports about the pod.
type nodeSource struct {
	Node      string // name of the Kubernetes node
	Name      string // nodename in its CNI configuration
	Container string
	Device    string // host veth
	MAC       string // of the pod interface
	IPs       []netip.Addr
	UID       string // of the endpoint to create
	Created   model.Time
}

// An endpointBody is a WorkloadEndpoint with the fields that Calico's CNI plugin writes, in
// the same order (v3.31.0, cni-plugin/pkg/k8s/k8s.go). The plugin writes no qosControls,
// whatever the annotations of the pod: Felix gets those only with the Kubernetes datastore.
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

// Labels that Calico adds to the labels of the pod. Policy selects by them.
const (
	labelNamespace      = "projectcalico.org/namespace"
	labelOrchestrator   = "projectcalico.org/orchestrator"
	labelServiceAccount = "projectcalico.org/serviceaccount"
)

// Annotations by which a pod requests more than an address from Calico's CNI plugin.
const (
	annotationSpoofed  = "cni.projectcalico.org/allowedSourcePrefixes"
	annotationFloating = "cni.projectcalico.org/floatingIPs"
)

// writeEndpoint gives the endpoint that Calico's CNI plugin writes for a pod. A missing label
// or profile would bypass policy, so it returns an error for everything that it cannot write
// exactly, and if healthy, an endpoint that the plugin wrote, differs from ours in form.
func writeEndpoint(p podSource, n nodeSource, healthy json.RawMessage) (json.RawMessage, error) {
	pod, err := readPodSource(p, n)
	if err != nil {
		return nil, err
	}
	m, sa := &pod.Metadata, pod.Spec.ServiceAccount
	mac := hardware(n.MAC)
	if mac == "" {
		return nil, fmt.Errorf("pod %s/%s: its interface has no valid MAC address: %q", m.Namespace, m.Name, n.MAC)
	}
	if n.Name == "" || n.Container == "" || n.Device == "" || n.UID == "" || n.Created.IsZero() || len(n.IPs) == 0 {
		return nil, fmt.Errorf("pod %s/%s: the report of its node is incomplete", m.Namespace, m.Name)
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
		return nil, fmt.Errorf("the CNI plugin of Calico writes endpoints differently on this cluster: %w", err)
	}
	return json.Marshal(e)
}

func endpointLabels(pod map[string]string, namespace, sa string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, pod)
	out[labelNamespace], out[labelOrchestrator] = namespace, "k8s"
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

// spoofed parses the source ranges that a pod may use besides its own address.
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

var errNotThatPod = errors.New("it is not the pod of the finding (other UID or node)")
