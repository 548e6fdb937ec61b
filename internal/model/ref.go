package model

import (
	"encoding/json"
	"strings"
)

// A Kind is the kind of object that a Ref names.
type Kind string

// The kinds.
const (
	KindPod       Kind = "pod"
	KindPodsOn    Kind = "podson" // all pods of the node of that name
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
	KindVolume    Kind = "volume"
	KindImage     Kind = "image"
	KindLog       Kind = "log"

	// Node state. The names begin with the node's name and a slash.
	KindLink       Kind = "link"
	KindPath       Kind = "path"
	KindNeighbour  Kind = "neighbour"
	KindAttachment Kind = "attachment"
	KindSysctl     Kind = "sysctl"
	KindSandbox    Kind = "sandbox"
	KindContainer  Kind = "container"
	KindCNIConfig  Kind = "cniconfig"
	KindProcess    Kind = "process"
	KindMount      Kind = "mount"
	KindRuntime    Kind = "runtime"
	KindMachine    Kind = "machine"
)

// A Ref names one object, present or absent. Name is what users type: shop/db-0, 10.0.0.5,
// 10.0.0.0/26, NODE/10.0.0.0/26 for an affinity.
type Ref struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"` // of the object; NAMESPACE/NAME, if it has a namespace
}

func (r Ref) String() string { return string(r.Kind) + " " + r.Name }

// OnNode returns the node of a node state ref; empty for other kinds.
func (r Ref) OnNode() string {
	switch r.Kind {
	case KindLink, KindPath, KindNeighbour, KindAttachment, KindSysctl, KindSandbox, KindContainer,
		KindCNIConfig, KindProcess, KindMount, KindRuntime, KindMachine:
		node, _, _ := strings.Cut(r.Name, "/")
		return node
	default:
		return ""
	}
}

// Extra holds the fields of a row that this version does not know. They are kept and written
// again, so that an older Plumbline does not lose what a newer one read.
type Extra map[string]json.RawMessage
