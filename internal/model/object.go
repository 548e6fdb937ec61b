package model

import "encoding/json"

// An Object is one thing as it is stored, with what a compare-and-swap needs. An empty
// Revision means that it is not there.
type Object struct {
	Ref      Ref               `json:"ref"`
	UID      string            `json:"uid,omitempty"`
	Revision string            `json:"revision,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Body     json.RawMessage   `json:"body,omitempty"` // spec of a custom resource, value of a key, or what a step may change of a pod
}

// There tells that the object exists.
func (o *Object) There() bool { return o.Revision != "" }
