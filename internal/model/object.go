package model

import "encoding/json"

// An Object is one object as it is stored, with what an atomic update (compare-and-swap)
// needs. An empty Revision means that it does not exist.
type Object struct {
	Ref      Ref               `json:"ref"`
	UID      string            `json:"uid,omitempty"`
	Revision string            `json:"revision,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Body     json.RawMessage   `json:"body,omitempty"` // spec of a custom resource, value of an etcd key, or PodBody
}

// There reports whether the object exists.
func (o *Object) There() bool { return o.Revision != "" }
