package model

import "net/netip"

// A PodBody is what a store gives of a pod. Only the three annotations are ever written.
type PodBody struct {
	Node        string       `json:"node"`
	Phase       Phase        `json:"phase"`
	Deleted     bool         `json:"deleted"`
	HostNetwork bool         `json:"hostNetwork"`
	IPs         []netip.Addr `json:"ips"`
	PodIP       string       `json:"podIP"`
	PodIPs      string       `json:"podIPs"`
	ContainerID string       `json:"containerID"`
	Static      string       `json:"static"`
	Owner       string       `json:"owner"`
	Annotated   bool         `json:"annotated"` // the annotation is there at all
}

// Finished tells that no container of the pod will run again.
func (p *PodBody) Finished() bool { return p.Phase == Succeeded || p.Phase == Failed }
