package load

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Key prefixes in Calico's own etcd.
const (
	calicoIPAM      = "/calico/ipam/v2/"
	calicoResources = "/calico/resources/v3/projectcalico.org/"
)

// etcdObjects returns the objects of a node if Calico has its own etcd: first those in
// Kubernetes' etcd, then those in Calico's.
func etcdObjects(c *cell) (kubernetes, calico []put, err error) {
	kubernetes, err = coreObjects(c, false)
	endpoints := c.stale
	for _, p := range c.pods {
		if p.endpoint {
			endpoints = append(endpoints, p)
		}
	}
	add := func(key string, value any) {
		b, e := json.Marshal(value)
		if e != nil && err == nil {
			err = fmt.Errorf("encode %s: %w", key, e)
		}
		calico = append(calico, put{key, b})
	}
	key, node := c.host.v3(uid(c.rand))
	add(key, node)
	for _, p := range endpoints {
		key, wep := p.v3(uid(c.rand), mac(c.rand))
		add(key, wep)
	}
	for _, b := range c.blocks {
		add(calicoIPAM+"assignment/ipv4/block/"+strings.Replace(b.CIDR, "/", "-", 1), b)
	}
	for _, h := range c.handles {
		add(calicoIPAM+"handle/"+h.id, handleValue{map[string]int{h.block: h.count}, false})
	}
	for _, a := range c.affinities {
		add(calicoIPAM+"host/"+a.node+"/ipv4/block/"+strings.Replace(a.block.String(), "/", "-", 1), affinityValue{"confirmed", false})
	}
	return kubernetes, calico, err
}

type handleValue struct {
	Block   map[string]int `json:"block"`
	Deleted bool           `json:"deleted"`
}

type affinityValue struct {
	State   string `json:"state"`
	Deleted bool   `json:"deleted"`
}

// A v3Resource is a resource of Calico's v3 API, with its order of fields.
type v3Resource struct {
	Kind       string     `json:"kind"`
	APIVersion string     `json:"apiVersion"`
	Metadata   v3Metadata `json:"metadata"`
	Spec       any        `json:"spec"`
}

type v3Metadata struct {
	Name         string            `json:"name"`
	GenerateName string            `json:"generateName,omitempty"`
	Namespace    string            `json:"namespace,omitempty"`
	UID          string            `json:"uid"`
	Created      string            `json:"creationTimestamp"`
	Labels       map[string]string `json:"labels,omitempty"`
	Annotations  map[string]string `json:"annotations,omitempty"`
}

func v3(kind string, m v3Metadata, spec any) v3Resource {
	return v3Resource{kind, "projectcalico.org/v3", m, spec}
}

func (h host) v3(uid string) (string, v3Resource) {
	labels := h.labels()
	copied, _ := json.Marshal(labels) // encoding a map of strings cannot fail
	type m = map[string]any
	return calicoResources + "nodes/" + h.name, v3("Node", v3Metadata{
		Name: h.name, UID: uid, Created: h.created.Format(time.RFC3339), Labels: labels,
		Annotations: map[string]string{"projectcalico.org/kube-labels": string(copied)},
	}, m{
		"bgp": m{"ipv4Address": h.cidr()}, "ipv4VXLANTunnelAddr": h.tunnel, "orchRefs": []m{{"nodeName": h.name, "orchestrator": "k8s"}},
		"interfaces": []m{{"name": "eth0", "addresses": []string{h.address.String()}}},
	})
}

type endpointSpec struct {
	Orchestrator   string         `json:"orchestrator"`
	Node           string         `json:"node"`
	ContainerID    string         `json:"containerID"`
	Pod            string         `json:"pod"`
	Endpoint       string         `json:"endpoint"`
	ServiceAccount string         `json:"serviceAccountName"`
	Networks       []string       `json:"ipNetworks"`
	Profiles       []string       `json:"profiles"`
	Interface      string         `json:"interfaceName"`
	MAC            string         `json:"mac"`
	Ports          []endpointPort `json:"ports"`
}

type endpointPort struct {
	Name     string `json:"name"`
	Protocol string `json:"protocol"`
	Port     int    `json:"port"`
	HostPort int    `json:"hostPort"`
	HostIP   string `json:"hostIP"`
}

func (p pod) v3(uid, mac string) (string, v3Resource) {
	// A dash separates the parts of the name; a dash inside a part is doubled.
	double := strings.NewReplacer("-", "--")
	name := double.Replace(p.host.name) + "-k8s-" + double.Replace(p.name) + "-eth0"
	device := sha1.Sum([]byte(p.namespace + "." + p.name)) // as Calico names interfaces
	return calicoResources + "workloadendpoints/" + p.namespace + "/" + name, v3("WorkloadEndpoint", v3Metadata{
		Name: name, GenerateName: p.app.replicaSet() + "-", Namespace: p.namespace, UID: uid, Created: p.created.Add(time.Second).Format(time.RFC3339),
		Labels: map[string]string{
			"app": p.app.name, "app.kubernetes.io/name": p.app.name, "pod-template-hash": p.app.hash, "projectcalico.org/namespace": p.namespace,
			"projectcalico.org/orchestrator": "k8s", "projectcalico.org/serviceaccount": "default",
		},
	}, endpointSpec{
		"k8s", p.host.name, p.sandbox, p.name, "eth0", "default",
		[]string{p.address.String() + "/32"},
		[]string{"kns." + p.namespace, "ksa." + p.namespace + ".default"},
		"cali" + hex.EncodeToString(device[:])[:11], mac,
		[]endpointPort{{"http", "TCP", 8080, 0, ""}},
	})
}
