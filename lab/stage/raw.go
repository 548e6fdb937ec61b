package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"plumbline.dev/plumbline/lab"
)

// An Object of Calico IPAM that is written directly to the datastore: what a crash
// between two writes, an old version or a restored backup leaves.
type Object struct {
	Resource, Kind string // of the custom resource
	Name           string // of the custom resource
	Key            string // in etcd
	Spec           string // JSON: the resource's spec
	Value          string // JSON: the etcd value, if it differs from the spec
}

// PutRaw writes the object unchanged.
func (s *Stage) PutRaw(ctx context.Context, o Object) error {
	if s.Datastore == lab.KDD {
		return s.Apply(ctx, fmt.Sprintf(`{"apiVersion": "crd.projectcalico.org/v1", "kind": %q, "metadata": {"name": %q}, "spec": %s}`, o.Kind, o.Name, o.Spec))
	}
	v := o.Value
	if v == "" {
		v = o.Spec
	}
	_, err := s.Etcdctl(ctx, "root", "put", o.Key, v)
	return err
}

// RemoveRaw deletes the object directly in the datastore.
func (s *Stage) RemoveRaw(ctx context.Context, o Object) error {
	if s.Datastore == lab.KDD {
		_, err := s.Kubectl(ctx, "delete", "--ignore-not-found", o.Resource+".crd.projectcalico.org", o.Name)
		return err
	}
	_, err := s.Etcdctl(ctx, "root", "del", o.Key)
	return err
}

// HandleObject is a handle that counts n addresses of a block.
func HandleObject(id, cidr string, n int) Object {
	return Object{
		Resource: "ipamhandles", Kind: "IPAMHandle", Name: id, Key: etcdHandles + id,
		Spec:  fmt.Sprintf(`{"handleID": %q, "block": {%q: %d}, "deleted": false}`, id, cidr, n),
		Value: fmt.Sprintf(`{"block":{%q:%d},"deleted":false}`, cidr, n),
	}
}

// AffinityObject is an affinity of a node for a block.
func (s *Stage) AffinityObject(node, ip string, bits int) Object {
	return Object{
		Resource: "blockaffinities", Kind: "BlockAffinity", Name: node + "-" + dashed(ip, bits),
		Key:   fmt.Sprintf("%s%s/ipv4/block/%s-%d", etcdAffinity, node, ip, bits),
		Spec:  fmt.Sprintf(`{"state": "confirmed", "node": %q, %s"cidr": "%s/%d", "deleted": "false"}`, node, s.where(lab.AffinityTypes, `"type": "host", `), ip, bits),
		Value: `{"state":"confirmed","deleted":false}`,
	}
}

// BlockObject is a block with the given lists, in JSON.
func (s *Stage) BlockObject(ip string, bits int, allocations, unallocated, attributes string) Object {
	spec := fmt.Sprintf(`{"cidr": "%s/%d", "allocations": %s, "unallocated": %s, "attributes": %s, %s"deleted": false, "strictAffinity": false}`,
		ip, bits, allocations, unallocated, attributes, s.where(lab.SequenceNumbers, `"sequenceNumber": 1, "sequenceNumberForAllocation": {}, `))
	return Object{
		Resource: "ipamblocks", Kind: "IPAMBlock", Name: dashed(ip, bits),
		Key: fmt.Sprintf("%s%s-%d", etcdBlocks, ip, bits), Spec: spec,
	}
}

// where returns the text if the lab's Calico has the trait.
func (s *Stage) where(t lab.Trait, text string) string {
	if s.Has(t) {
		return text
	}
	return ""
}

// List is a JSON list of n elements.
func List(n int, element func(int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = element(i)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// dashed returns the name that Calico derives from a CIDR.
func dashed(ip string, bits int) string {
	return fmt.Sprintf("%s-%d", strings.ReplaceAll(ip, ".", "-"), bits)
}

// EditBlock changes a block directly in the datastore. Numbers stay as written: sequence
// numbers do not fit into a float.
func (s *Stage) EditBlock(ctx context.Context, b Block, edit func(spec map[string]any)) error {
	if s.Datastore == lab.KDD {
		path := crds + "ipamblocks/" + b.Key
		raw, err := s.Do(ctx, http.MethodGet, path, "")
		if err != nil {
			return err
		}
		obj, err := decode(raw)
		if err != nil {
			return err
		}
		spec, ok := obj["spec"].(map[string]any)
		if !ok {
			return fmt.Errorf("block %s has no spec", b.Key)
		}
		edit(spec)
		text, err := json.Marshal(obj)
		if err != nil {
			return err
		}
		_, err = s.Do(ctx, http.MethodPut, path, string(text))
		return err
	}
	raw, err := s.Etcdctl(ctx, "root", "get", "--print-value-only", b.Key)
	if err != nil {
		return err
	}
	spec, err := decode([]byte(raw))
	if err != nil {
		return err
	}
	edit(spec)
	text, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	_, err = s.Etcdctl(ctx, "root", "put", b.Key, string(text))
	return err
}

func decode(raw []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v map[string]any
	err := d.Decode(&v)
	return v, err
}
