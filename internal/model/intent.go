package model

import (
	"net/netip"
	"slices"
)

// A Phase is a pod's.
type Phase string

// The phases of a pod.
const (
	Pending   Phase = "Pending"
	Running   Phase = "Running"
	Succeeded Phase = "Succeeded"
	Failed    Phase = "Failed"
)

// An Annotation says what Calico's CNI plugin has written on a pod about its addresses.
type Annotation string

// Absent: no ADD has finished, or Calico keeps endpoints elsewhere. Emptied: a DEL
// has run. Written: the addresses are in Annotated. Garbled: nobody can read it.
const (
	Absent  Annotation = ""
	Emptied Annotation = "emptied"
	Written Annotation = "written"
	Garbled Annotation = "garbled"
)

// A Pod is what Kubernetes says of a pod.
type Pod struct {
	Namespace   string       `json:"namespace"`
	Name        string       `json:"name"`
	UID         string       `json:"uid,omitempty"`
	Node        string       `json:"node,omitempty"`
	Phase       Phase        `json:"phase,omitempty"`
	HostNetwork bool         `json:"hostNetwork,omitempty"`
	Ready       bool         `json:"ready,omitempty"`
	NoIPAM      bool         `json:"noIPAM,omitempty"` // it asked for addresses past IPAM (ipAddrsNoIpam)
	Created     Time         `json:"created,omitzero"`
	Deleted     Time         `json:"deleted,omitzero"` // deletionTimestamp: the end of the grace
	Written     Time         `json:"written,omitzero"` // when anybody wrote the object last
	IPs         []netip.Addr `json:"ips,omitempty"`    // status.podIPs
	Annotation  Annotation   `json:"annotation,omitempty"`
	Annotated   []netip.Addr `json:"annotated,omitempty"`
	ContainerID string       `json:"containerID,omitempty"` // of the sandbox, as annotated
	Owner       string       `json:"owner,omitempty"`       // KIND/NAME of its controller
	VM          string       `json:"vm,omitempty"`          // KubeVirt machine that it runs
	Static      string       `json:"static,omitempty"`      // UID of the static pod that it stands for, which its sandbox carries
	Finalizers  []string     `json:"finalizers,omitempty"`  // who must let go before it can end
	Volumes     []string     `json:"volumes,omitempty"`     // KIND:SOURCE of those that can hang; see kube
	Images      []string     `json:"images,omitempty"`
	Started     Time         `json:"started,omitzero"` // when its kubelet took it on
	Revision    string       `json:"revision,omitempty"`
	Extra       Extra        `json:"-"`
}

// Ref names the pod.
func (p *Pod) Ref() Ref { return Ref{KindPod, p.Namespace + "/" + p.Name} }

// Finished tells that no container of the pod will run again.
func (p *Pod) Finished() bool { return p.Phase == Succeeded || p.Phase == Failed }

// TornDown tells that the pod is being deleted and its network is already gone.
func (p *Pod) TornDown() bool { return !p.Deleted.IsZero() && p.Annotation == Emptied }

// Networked tells that the pod has, or will have, an address of its own.
func (p *Pod) Networked() bool { return !p.HostNetwork && !p.Finished() && !p.TornDown() }

// Claims gives the addresses that a living pod says are its own, by status and
// annotation.
func (p *Pod) Claims() []netip.Addr {
	if !p.Networked() {
		return nil
	}
	if len(p.Annotated) == 0 {
		return p.IPs
	}
	out := p.IPs[:len(p.IPs):len(p.IPs)]
	for _, a := range p.Annotated {
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// A Node is what Kubernetes says of a node, with Calico's annotations on it.
type Node struct {
	Name      string         `json:"name"`
	UID       string         `json:"uid,omitempty"`
	BootID    string         `json:"bootID,omitempty"`
	OS        string         `json:"os,omitempty"`
	Ready     bool           `json:"ready,omitempty"`
	Changed   Time           `json:"changed,omitzero"` // since when it is ready, or not
	Taints    []string       `json:"taints,omitempty"`
	PodCIDRs  []netip.Prefix `json:"podCIDRs,omitempty"`
	Addresses []netip.Addr   `json:"addresses,omitempty"` // InternalIPs
	Tunnels   []Tunnel       `json:"tunnels,omitempty"`
	Calico    string         `json:"calico,omitempty"` // what Calico calls it, if not by its name
	Created   Time           `json:"created,omitzero"`
	Revision  string         `json:"revision,omitempty"`
	Extra     Extra          `json:"-"`
}

// Ref names the node.
func (n *Node) Ref() Ref { return Ref{KindNode, n.Name} }

// A Tunnel is an address of a node's own tunnel device.
type Tunnel struct {
	Kind string     `json:"kind"` // as in the handle: ipip, vxlan, vxlan-v6, wireguard, wireguard-v6
	IP   netip.Addr `json:"ip"`
}

// A Service is one of type LoadBalancer.
type Service struct {
	Namespace string       `json:"namespace"`
	Name      string       `json:"name"`
	UID       string       `json:"uid,omitempty"`
	Class     string       `json:"class,omitempty"`
	IPs       []netip.Addr `json:"ips,omitempty"` // status.loadBalancer
	Revision  string       `json:"revision,omitempty"`
	Extra     Extra        `json:"-"`
}

// Ref names the service.
func (s *Service) Ref() Ref { return Ref{KindService, s.Namespace + "/" + s.Name} }

// A VM is a KubeVirt machine, or a machine instance that stands alone.
type VM struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	Revision  string `json:"revision,omitempty"`
	Extra     Extra  `json:"-"`
}

// Ref names the machine.
func (m *VM) Ref() Ref { return Ref{KindVM, m.Namespace + "/" + m.Name} }
