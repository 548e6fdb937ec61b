package model

import "net/netip"

// A PodBody is the Body of a pod's Object. Only the three annotations are ever written.
type PodBody struct {
	Node        string       `json:"node"`
	Phase       Phase        `json:"phase"`
	Ready       bool         `json:"ready,omitempty"`
	Deleted     bool         `json:"deleted"`
	HostNetwork bool         `json:"hostNetwork"`
	IPs         []netip.Addr `json:"ips"`
	PodIP       string       `json:"podIP"`
	PodIPs      string       `json:"podIPs"`
	ContainerID string       `json:"containerID"`
	Static      string       `json:"static"`
	Owner       string       `json:"owner"`
	Annotated   bool         `json:"annotated"` // the annotation exists
}

// Finished reports whether no container of the pod will run again.
func (p *PodBody) Finished() bool { return p.Phase == Succeeded || p.Phase == Failed }
