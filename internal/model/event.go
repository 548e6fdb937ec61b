package model

// An Event is a Kubernetes event about a pod: about its network, or about its termination.
type Event struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	UID       string `json:"uid,omitempty"`
	Node      string `json:"node,omitempty"`
	Reason    string `json:"reason"`
	Message   string `json:"message,omitempty"` // cut at 1 kB
	Count     int    `json:"count,omitempty"`
	First     Time   `json:"first,omitzero"`
	Last      Time   `json:"last,omitzero"`
	Extra     Extra  `json:"-"`
}

// Ref names the pod that it is about.
func (e *Event) Ref() Ref { return Ref{KindPod, e.Namespace + "/" + e.Pod} }
