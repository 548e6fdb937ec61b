package model

import (
	"net/netip"
	"slices"
	"strings"
)

// A Phase is the phase of a pod.
type Phase string

// The phases of a pod.
const (
	Pending   Phase = "Pending"
	Running   Phase = "Running"
	Succeeded Phase = "Succeeded"
	Failed    Phase = "Failed"
)

// An Annotation is the state of the address annotation of Calico's CNI plugin.
type Annotation string

// Absent: no ADD has finished, or endpoints are objects of their own (etcd). Emptied: a DEL
// has run. Written: the addresses are in Annotated. Garbled: it cannot be parsed.
const (
	Absent  Annotation = ""
	Emptied Annotation = "emptied"
	Written Annotation = "written"
	Garbled Annotation = "garbled"
)

// A Pod is a Kubernetes pod.
type Pod struct {
	Namespace   string       `json:"namespace"`
	Name        string       `json:"name"`
	UID         string       `json:"uid,omitempty"`
	Node        string       `json:"node,omitempty"`
	Phase       Phase        `json:"phase,omitempty"`
	HostNetwork bool         `json:"hostNetwork,omitempty"`
	Ready       bool         `json:"ready,omitempty"`
	NoIPAM      bool         `json:"noIPAM,omitempty"` // it requested addresses outside IPAM (ipAddrsNoIpam)
	Created     Time         `json:"created,omitzero"`
	Deleted     Time         `json:"deleted,omitzero"` // deletionTimestamp: the end of the termination grace period
	Written     Time         `json:"written,omitzero"` // when the object was last written
	IPs         []netip.Addr `json:"ips,omitempty"`    // status.podIPs
	Annotation  Annotation   `json:"annotation,omitempty"`
	Annotated   []netip.Addr `json:"annotated,omitempty"`
	ContainerID string       `json:"containerID,omitempty"` // of the sandbox, as annotated
	Owner       string       `json:"owner,omitempty"`       // KIND/NAME of its controller
	VM          string       `json:"vm,omitempty"`          // KubeVirt VM that it runs
	Static      string       `json:"static,omitempty"`      // of a mirror pod: UID of its static pod, as in its sandbox
	Finalizers  []string     `json:"finalizers,omitempty"`
	Volumes     []string     `json:"volumes,omitempty"` // KIND:SOURCE of those that can hang, see kube; and RuntimeDir with a directory
	Images      []string     `json:"images,omitempty"`
	Started     Time         `json:"started,omitzero"` // status.startTime, by the kubelet's clock
	Revision    string       `json:"revision,omitempty"`
	Extra       Extra        `json:"-"`
}

// Ref names the pod.
func (p *Pod) Ref() Ref { return Ref{KindPod, p.Namespace + "/" + p.Name} }

// Finished reports whether no container of the pod will run again.
func (p *Pod) Finished() bool { return p.Phase == Succeeded || p.Phase == Failed }

// TornDown reports whether the pod is being deleted and a DEL has emptied its annotation.
func (p *Pod) TornDown() bool { return !p.Deleted.IsZero() && p.Annotation == Emptied }

// Networked reports whether the pod has, or will get, an address of its own.
func (p *Pod) Networked() bool { return !p.HostNetwork && !p.Finished() && !p.TornDown() }

// Claims returns the addresses in status and annotation, if the pod is Networked.
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

// A Node is a Kubernetes node, with Calico's annotations.
type Node struct {
	Name      string         `json:"name"`
	UID       string         `json:"uid,omitempty"`
	BootID    string         `json:"bootID,omitempty"`
	OS        string         `json:"os,omitempty"`
	Ready     bool           `json:"ready,omitempty"`
	Silent    bool           `json:"silent,omitempty"` // Ready is Unknown: the kubelet does not report
	Why       string         `json:"why,omitempty"`    // message of the Ready condition, if it is not true
	Changed   Time           `json:"changed,omitzero"` // last transition of the Ready condition
	Taints    []string       `json:"taints,omitempty"`
	PodCIDRs  []netip.Prefix `json:"podCIDRs,omitempty"`
	Addresses []netip.Addr   `json:"addresses,omitempty"` // InternalIPs
	CalicoIPs []netip.Addr   `json:"calicoIPs,omitempty"` // where Calico's other nodes send this node's packets
	Tunnels   []Tunnel       `json:"tunnels,omitempty"`
	Calico    string         `json:"calico,omitempty"` // Calico's name for it, if Calico has nodes of its own
	Created   Time           `json:"created,omitzero"`
	Revision  string         `json:"revision,omitempty"`
	Extra     Extra          `json:"-"`
}

// Ref names the node.
func (n *Node) Ref() Ref { return Ref{KindNode, n.Name} }

// Cordoned reports whether somebody has taken the node out of scheduling.
func (n *Node) Cordoned() bool {
	return slices.Contains(n.Taints, "node.kubernetes.io/unschedulable:NoSchedule")
}

// Virtual reports whether the node is no machine whose pods Calico could connect, such as those of
// virtual-kubelet and Fargate.
func (n *Node) Virtual() bool {
	return slices.ContainsFunc(n.Taints, func(t string) bool {
		return strings.HasPrefix(t, "virtual-kubelet.io/") || strings.HasPrefix(t, "eks.amazonaws.com/compute-type")
	})
}

// A Tunnel is the address of a tunnel interface of a node.
type Tunnel struct {
	Kind string     `json:"kind"` // as in the handle: ipip, vxlan, vxlan-v6, wireguard, wireguard-v6
	IP   netip.Addr `json:"ip"`
}

// A Service is a service of type LoadBalancer.
type Service struct {
	Namespace string       `json:"namespace"`
	Name      string       `json:"name"`
	Class     string       `json:"class,omitempty"`
	IPs       []netip.Addr `json:"ips,omitempty"` // status.loadBalancer
	Revision  string       `json:"revision,omitempty"`
	Extra     Extra        `json:"-"`
}

// Ref names the service.
func (s *Service) Ref() Ref { return Ref{KindService, s.Namespace + "/" + s.Name} }

// A VM is a KubeVirt VirtualMachine, or a VirtualMachineInstance without one.
type VM struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Revision  string `json:"revision,omitempty"`
	Extra     Extra  `json:"-"`
}

// Ref names the VM.
func (m *VM) Ref() Ref { return Ref{KindVM, m.Namespace + "/" + m.Name} }

// RuntimeDir begins the name of a volume that has the container runtime's directories of the node
// in it, mounted without propagation: the pod keeps a copy of every mount that was there when
// it started.
const RuntimeDir = "runtimeDir:"
