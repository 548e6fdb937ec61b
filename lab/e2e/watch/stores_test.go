//go:build e2e

package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"plumbline.dev/plumbline/lab"
)

// stores are the etcds that the test writes: Kubernetes' and Calico's, which may be the
// same.
type stores struct {
	mode               lab.Datastore
	kubernetes, calico *store
}

func openStores(t *testing.T, l *lab.Lab) *stores {
	t.Helper()
	b := &stores{mode: l.Datastore}
	k, c := placesOf(l)
	for to, from := range map[**store]place{&b.kubernetes: k, &b.calico: c} {
		s, err := open(from)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.conn.Close() })
		*to = s
	}
	return b
}

// Key prefixes.
const (
	crds      = "/registry/crd.projectcalico.org/"
	ipam      = "/calico/ipam/v2/"
	endpoints = "/calico/resources/v3/projectcalico.org/workloadendpoints/"
)

func podKey(pod string) string { return "/registry/pods/" + pod }

func (b *stores) blockKey(cidr string) string {
	if b.mode == lab.KDD {
		return crds + "ipamblocks/" + dashed(cidr)
	}
	return ipam + "assignment/ipv4/block/" + strings.Replace(cidr, "/", "-", 1)
}

func (b *stores) blocks() string {
	if b.mode == lab.KDD {
		return crds + "ipamblocks/"
	}
	return ipam + "assignment/ipv4/block/"
}

func (b *stores) handleKey(id string) string {
	if b.mode == lab.KDD {
		return crds + "ipamhandles/" + strings.ToLower(id)
	}
	return ipam + "handle/" + id
}

func (b *stores) affinityKey(node, cidr string) string {
	if b.mode == lab.KDD {
		return crds + "blockaffinities/" + node + "-" + dashed(cidr)
	}
	return ipam + "host/" + node + "/ipv4/block/" + strings.Replace(cidr, "/", "-", 1)
}

func endpointKey(node, pod string) string {
	ns, name, _ := strings.Cut(pod, "/")
	return endpoints + ns + "/" + endpointName(node, name)
}

func endpointName(node, name string) string {
	double := strings.NewReplacer("-", "--")
	return double.Replace(node) + "-k8s-" + double.Replace(name) + "-eth0"
}

func dashed(cidr string) string { return strings.NewReplacer(".", "-", "/", "-").Replace(cidr) }

func (b *stores) of(key string) *store {
	if strings.HasPrefix(key, "/registry/") {
		return b.kubernetes
	}
	return b.calico
}

// put writes each key to its etcd.
func (b *stores) put(ctx context.Context, ws []write) error {
	parts := map[*store][]write{}
	for _, w := range ws {
		parts[b.of(w.key)] = append(parts[b.of(w.key)], w)
	}
	for s, part := range parts {
		if _, err := s.commit(ctx, part...); err != nil {
			return err
		}
	}
	return nil
}

// edit returns a block with a changed spec. Numbers stay as written: sequence numbers do
// not fit into a float.
func edit(value []byte, change func(spec map[string]any) error) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var o map[string]any
	if err := d.Decode(&o); err != nil {
		return nil, err
	}
	spec := o
	if inner, ok := o["spec"].(map[string]any); ok {
		spec = inner
	}
	if err := change(spec); err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

var errNotHeld = errors.New("the block does not allocate it")

// release releases an address as Calico does: indices after the removed attribute are
// decreased.
func release(spec map[string]any, handle string) error {
	list, _ := spec["attributes"].([]any)
	at := slices.IndexFunc(list, func(a any) bool { m, _ := a.(map[string]any); return m["handle_id"] == handle })
	if at < 0 {
		return errNotHeld
	}
	spec["attributes"] = slices.Delete(list, at, at+1)
	slots, _ := spec["allocations"].([]any)
	free, _ := spec["unallocated"].([]any)
	for ord, v := range slots {
		n, ok := v.(json.Number)
		if !ok {
			continue
		}
		i, err := n.Int64()
		switch {
		case err != nil:
			return err
		case int(i) == at:
			slots[ord] = nil
			free = append(free, json.Number(fmt.Sprint(ord)))
		case int(i) > at:
			slots[ord] = json.Number(fmt.Sprint(i - 1))
		}
	}
	spec["unallocated"] = free
	return nil
}

// claim allocates the first free address to a pod, and returns it.
func claim(spec map[string]any, handle string, secondary map[string]any) (netip.Addr, error) {
	free, _ := spec["unallocated"].([]any)
	slots, _ := spec["allocations"].([]any)
	list, _ := spec["attributes"].([]any)
	text, _ := spec["cidr"].(string)
	cidr, err := netip.ParsePrefix(text)
	if err != nil || len(free) == 0 {
		return netip.Addr{}, errors.Join(errNotHeld, err)
	}
	n, _ := free[0].(json.Number)
	ord, err := n.Int64()
	if err != nil {
		return netip.Addr{}, err
	}
	spec["unallocated"] = free[1:]
	slots[ord] = json.Number(fmt.Sprint(len(list)))
	spec["attributes"] = append(list, map[string]any{"handle_id": handle, "secondary": secondary})
	a := cidr.Addr().As4()
	a[3] += byte(ord)
	return netip.AddrFrom4(a), nil
}

var magic = []byte("k8s\x00")

// editPod returns a changed pod in the API server's encoding.
func editPod(value []byte, change func(*corev1.Pod)) ([]byte, error) {
	var u runtime.Unknown
	var p corev1.Pod
	if err := u.Unmarshal(bytes.TrimPrefix(value, magic)); err != nil {
		return nil, err
	}
	if err := p.Unmarshal(u.Raw); err != nil {
		return nil, err
	}
	change(&p)
	var err error
	if u.Raw, err = p.Marshal(); err != nil {
		return nil, err
	}
	out, err := u.Marshal()
	return append(slices.Clone(magic), out...), err
}

func annotate(p *corev1.Pod, ip string) {
	p.Annotations["cni.projectcalico.org/podIP"], p.Annotations["cni.projectcalico.org/podIPs"] = ip, ip
}
