package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/lab"
)

// A Block is Calico's IPAM block, as read from either datastore. Numbers that exceed a
// float's precision stay text.
type Block struct {
	Key         string      `json:"-"` // resource name, or etcd key
	CIDR        string      `json:"cidr"`
	Affinity    string      `json:"affinity"`
	Allocations []*int      `json:"allocations"`
	Unallocated []int       `json:"unallocated"`
	Attributes  []Attribute `json:"attributes"`
}

// An Attribute is the owner of addresses of a block.
type Attribute struct {
	Handle    string            `json:"handle_id"`
	Secondary map[string]string `json:"secondary"`
}

// Owner returns the attribute of an address of the block, if it is allocated.
func (b Block) Owner(ip string) (Attribute, bool) {
	a, err := netip.ParseAddr(ip)
	p, err2 := netip.ParsePrefix(b.CIDR)
	if err != nil || err2 != nil || !p.Contains(a) {
		return Attribute{}, false
	}
	i := int(a.As4()[3]) - int(p.Addr().As4()[3])
	if i >= len(b.Allocations) || b.Allocations[i] == nil || *b.Allocations[i] >= len(b.Attributes) {
		return Attribute{}, false
	}
	return b.Attributes[*b.Allocations[i]], true
}

// A Handle is Calico's IPAM handle: how many addresses of which block it holds.
type Handle struct {
	Key     string         `json:"-"`
	ID      string         `json:"handleID"`
	Block   map[string]int `json:"block"`
	Deleted bool           `json:"deleted"`
}

const (
	crds         = "/apis/crd.projectcalico.org/v1/"
	etcdBlocks   = "/calico/ipam/v2/assignment/ipv4/block/"
	etcdHandles  = "/calico/ipam/v2/handle/"
	etcdAffinity = "/calico/ipam/v2/host/"
	etcdWEPs     = "/calico/resources/v3/projectcalico.org/workloadendpoints/"
)

// Blocks reads all IPv4 blocks.
func (s *Stage) Blocks(ctx context.Context) ([]Block, error) {
	return readAll(ctx, s, "ipamblocks", etcdBlocks, func(b *Block, key string) { b.Key = key })
}

// Handles reads all handles.
func (s *Stage) Handles(ctx context.Context) ([]Handle, error) {
	return readAll(ctx, s, "ipamhandles", etcdHandles, func(h *Handle, key string) {
		h.Key = key
		if h.ID == "" {
			h.ID = strings.TrimPrefix(key, etcdHandles)
		}
	})
}

// Affinities lists the keys of all affinities, which end in the block's name.
func (s *Stage) Affinities(ctx context.Context) ([]string, error) {
	type affinity struct {
		key string
	}
	all, err := readAll(ctx, s, "blockaffinities", etcdAffinity, func(a *affinity, key string) { a.key = key })
	var keys []string
	for _, a := range all {
		keys = append(keys, a.key)
	}
	return keys, err
}

// Endpoints lists the pods (NAMESPACE/NODE-k8s-POD-eth0) that have a WorkloadEndpoint,
// in etcd mode.
func (s *Stage) Endpoints(ctx context.Context) ([]string, error) {
	keys, err := s.etcdKeys(ctx, etcdWEPs)
	for i := range keys {
		keys[i] = strings.TrimPrefix(keys[i], etcdWEPs)
	}
	return keys, err
}

func readAll[T any](ctx context.Context, s *Stage, resource, prefix string, name func(*T, string)) ([]T, error) {
	if s.Datastore == lab.KDD {
		var list struct {
			Items []struct {
				Metadata struct{ Name string }
				Spec     T
			}
		}
		if err := s.Get(ctx, crds+resource, &list); err != nil {
			return nil, err
		}
		out := make([]T, len(list.Items))
		for i, it := range list.Items {
			out[i] = it.Spec
			name(&out[i], it.Metadata.Name)
		}
		return out, nil
	}
	text, err := s.Etcdctl(ctx, "read-only", "get", "--prefix", prefix)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	var out []T
	for i := 0; i+1 < len(lines); i += 2 { // one line for the key, one for the value
		var v T
		if err := json.Unmarshal([]byte(lines[i+1]), &v); err != nil {
			return nil, fmt.Errorf("read %s: %w", lines[i], err)
		}
		name(&v, lines[i])
		out = append(out, v)
	}
	return out, nil
}

func (s *Stage) etcdKeys(ctx context.Context, prefix string) ([]string, error) {
	text, err := s.Etcdctl(ctx, "read-only", "get", "--prefix", "--keys-only", prefix)
	return strings.Fields(text), err
}

// Owner returns the owner of the address in Calico IPAM, if it is allocated.
func (s *Stage) Owner(ctx context.Context, ip string) (Attribute, bool, error) {
	blocks, err := s.Blocks(ctx)
	if err != nil {
		return Attribute{}, false, err
	}
	for _, b := range blocks {
		if a, ok := b.Owner(ip); ok {
			return a, true, nil
		}
	}
	return Attribute{}, false, nil
}

// HasEndpoint returns whether the pod has an endpoint: its annotation (KDD) or its
// WorkloadEndpoint (etcd).
func (s *Stage) HasEndpoint(ctx context.Context, pod lab.Pod) (bool, error) {
	if s.Datastore == lab.KDD {
		p, err := s.Pod(ctx, pod.Metadata.Namespace, pod.Metadata.Name)
		return p.Metadata.Annotations[lab.AnnotationIP] != "", err
	}
	keys, err := s.etcdKeys(ctx, etcdWEPs+pod.Metadata.Namespace+"/"+pod.Spec.NodeName+"-k8s-"+strings.ReplaceAll(pod.Metadata.Name, "-", "--")+"-")
	return len(keys) > 0, err
}

// Problems runs calicoctl ipam check and returns what it printed.
func (s *Stage) Problems(ctx context.Context) (string, error) {
	return s.Calicoctl(ctx, "ipam", "check", "--show-problem-ips")
}
