package executetest

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// A pod is what Kubernetes keeps of one, as far as it matters here.
type pod struct {
	Node        string   `json:"node"`
	Phase       string   `json:"phase"`
	Deleted     bool     `json:"deleted"`
	HostNetwork bool     `json:"hostNetwork"`
	IPs         []string `json:"ips"`
	PodIP       string   `json:"podIP"`
	PodIPs      string   `json:"podIPs"`
	ContainerID string   `json:"containerID"`
	Static      string   `json:"static"`
	Owner       string   `json:"owner"`
	Annotated   bool     `json:"annotated"`
	Ready       bool     `json:"ready,omitempty"` // only of calico-node: a restart waits for it

	ready   bool
	ips     []netip.Addr // as IPs has them
	created model.Time
	deleted model.Time
}

// A machine is what Kubernetes keeps of a node.
type machine struct {
	Name   string   `json:"name"`
	BootID string   `json:"bootID"`
	Taints []string `json:"taints,omitempty"`

	// Of the Ready condition, as model.NodeBody has them.
	Ready   bool       `json:"ready"`
	Silent  bool       `json:"silent,omitempty"`
	Changed model.Time `json:"changed,omitzero"`

	tunnel  netip.Addr
	created model.Time
}

// An endpoint is the value of a WorkloadEndpoint's key in etcd.
type endpoint struct {
	raw  map[string]json.RawMessage
	spec object.Endpoint
	ips  []netip.Addr
}

func decode(k model.Kind, b []byte) (any, error) {
	switch k {
	case model.KindBlock:
		return pointer(object.Decode("block", b, func(v *object.Block) *lossless.Extra { return &v.Extra }))
	case model.KindHandle:
		return pointer(object.Decode("handle", b, func(v *object.Handle) *lossless.Extra { return &v.Extra }))
	case model.KindAffinity:
		return pointer(object.Decode("affinity", b, func(v *object.Affinity) *lossless.Extra { return &v.Extra }))
	case model.KindEndpoint:
		return decodeEndpoint(b)
	case model.KindPod:
		var p pod
		err := json.Unmarshal(b, &p)
		return &p, err
	default:
		return nil, fmt.Errorf("nobody writes a %s", k)
	}
}

func pointer[T any](v T, err error) (any, error) { return &v, err }

func decodeEndpoint(b []byte) (*endpoint, error) {
	e := &endpoint{}
	if err := json.Unmarshal(b, &e.raw); err != nil {
		return nil, err
	}
	var err error
	e.spec, err = object.Decode("endpoint", e.raw["spec"], func(v *object.Endpoint) *lossless.Extra { return &v.Extra })
	for _, n := range e.spec.IPNetworks.V {
		p, bad := netip.ParsePrefix(n)
		if bad != nil {
			return nil, bad
		}
		e.ips = append(e.ips, p.Addr())
	}
	return e, err
}

func encode(v any) []byte {
	var b []byte
	var err error
	switch v := v.(type) {
	case *object.Block:
		b, err = lossless.Encode(*v, v.Extra)
	case *object.Handle:
		b, err = lossless.Encode(*v, v.Extra)
	case *object.Affinity:
		b, err = lossless.Encode(*v, v.Extra)
	case *endpoint:
		b, err = json.Marshal(v.raw)
	default:
		b, err = json.Marshal(v)
	}
	if err != nil {
		panic(err) // nothing in here cannot be written
	}
	return b
}

// annotated is the pod that was there with the three annotations of the one that is
// written: the patch can change nothing else.
func annotated(old, next *row) *row {
	p, said := *old.value.(*pod), next.value.(*pod)
	p.PodIP, p.PodIPs, p.ContainerID, p.Annotated = said.PodIP, said.PodIPs, said.ContainerID, true
	return &row{labels: old.labels, value: &p}
}
