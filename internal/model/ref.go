package model

import "encoding/json"

// A Kind says what a Ref names.
type Kind string

// What can be named.
const (
	KindPod       Kind = "pod"
	KindNode      Kind = "node"
	KindService   Kind = "service"
	KindVM        Kind = "vm"
	KindAddress   Kind = "address"
	KindPool      Kind = "pool"
	KindBlock     Kind = "block"
	KindHandle    Kind = "handle"
	KindAffinity  Kind = "affinity"
	KindEndpoint  Kind = "endpoint"
	KindCluster   Kind = "cluster"
	KindCollector Kind = "collector"
)

// A Ref names one thing, present or absent. Name is what a person would type:
// shop/db-0, 10.0.0.5, 10.0.0.0/26, node/10.0.0.0/26 for an affinity.
type Ref struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
}

func (r Ref) String() string { return string(r.Kind) + " " + r.Name }

// Extra holds the fields of a row that this version does not know: they are kept
// and written again, so that an older Plumbline does not lose what a newer one saw.
type Extra map[string]json.RawMessage
