//go:build e2e

package calico

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/lab"
)

const (
	ipamPool = `{"apiVersion":"crd.projectcalico.org/v1","kind":"IPPool","metadata":{"name":"p"},"spec":{"cidr":"10.250.0.0/16","blockSize":30,"nodeSelector":"all()","vxlanMode":"Always","ipipMode":"Never","allowedUses":["Workload"]}}`
)

// assign has the real calico-ipam assign an address on a node.
func assign(t *testing.T, l *lab.Lab, node, container string) netip.Addr {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), l.Bin("calico", "calico"))
	cmd.Args = []string{"calico-ipam"} // it is whom it is called
	cmd.Env = []string{
		"CNI_COMMAND=ADD", "CNI_CONTAINERID=" + container, "CNI_NETNS=/run/netns/none", "CNI_IFNAME=eth0", "CNI_PATH=/opt/cni/bin",
		"CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=a;K8S_POD_INFRA_CONTAINER_ID=" + container,
	}
	cmd.Stdin = bytes.NewBufferString(fmt.Sprintf(`{"cniVersion":"0.3.1","name":"k8s-pod-network","type":"calico","nodename":%q,"datastore_type":"kubernetes",
"kubernetes":{"kubeconfig":%q},"ipam_lock_file":%q,"log_level":"warning","ipam":{"type":"calico-ipam"}}`, node, l.Kubeconfig(), filepath.Join(t.TempDir(), "lock")))
	var diag bytes.Buffer
	cmd.Stderr = &diag
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("calico-ipam: %v: %s%s", err, out, diag.String())
	}
	var result struct {
		IPs []struct{ Address netip.Prefix }
	}
	if err := json.Unmarshal(out, &result); err != nil || len(result.IPs) != 1 {
		t.Fatalf("calico-ipam: %v: %s", err, out)
	}
	return result.IPs[0].Address.Addr()
}

// TestLabIPAMFindsIt: an affinity that we make is one to Calico's own IPAM: the same name
// and labels as its own, and addresses come from its block.
func TestLabIPAMFindsIt(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true, Datastore: lab.KDD})
	ctx := t.Context()
	create := func(path, object string) {
		t.Helper()
		if b, err := l.Do(ctx, http.MethodPost, path, object); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
	}
	create("/apis/crd.projectcalico.org/v1/ippools", ipamPool)
	s := crdStore(t, l)
	put := func(r model.Ref, labels map[string]string, body string) {
		t.Helper()
		if _, err := s.Put(ctx, model.Object{Ref: r, Labels: labels, Body: json.RawMessage(body)}); err != nil {
			t.Fatal(err)
		}
	}
	far := netip.MustParsePrefix("10.250.255.248/30") // where no node of ours would begin to look
	for _, c := range []struct {
		node                  string
		there, labelled, seen bool
	}{{"calicos", false, false, false}, {strings.Repeat("long", 61), false, false, false}, {"labelled.example.org", true, true, true}, {"bare", true, false, false}} {
		create("/api/v1/nodes", fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q}}`, c.node))
		block := far
		if c.there {
			var labels map[string]string
			if c.labelled {
				labels = object.AffinityLabels(c.node, block)
			}
			put(model.Ref{Kind: model.KindAffinity, Name: c.node + "/" + block.String()}, labels,
				fmt.Sprintf(`{"node":%q,"cidr":%q,"type":"host","state":"confirmed","deleted":"false"}`, c.node, block))
			put(model.Ref{Kind: model.KindBlock, Name: block.String()}, nil,
				fmt.Sprintf(`{"cidr":%q,"affinity":"host:%s","allocations":[null,null,null,null],"unallocated":[0,1,2,3],"attributes":[],"sequenceNumber":1800000000000000001,"deleted":false,"strictAffinity":false}`, block, c.node))
			far = netip.PrefixFrom(far.Addr().Prev().Prev().Prev().Prev(), 30)
		}
		container := c.node[:4]
		a := assign(t, l, c.node, container)
		if block.Contains(a) != c.seen {
			t.Errorf("%+v: %s was given", c, a)
		}
		asCalico(t, s, c.node, container, netip.PrefixFrom(a, 30).Masked())
	}
}

// asCalico compares what Calico has written, or at least used, with what we would have: names,
// and an affinity's labels.
func asCalico(t *testing.T, s *CRDStore, node, container string, block netip.Prefix) {
	t.Helper()
	for _, r := range []model.Ref{{Kind: model.KindAffinity, Name: node + "/" + block.String()}, {Kind: model.KindBlock, Name: block.String()}, {Kind: model.KindHandle, Name: "k8s-pod-network." + container}} {
		p, err := placeOf(r)
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.read(t.Context(), p)
		if err != nil || !found.there() {
			t.Fatalf("%s is not %s: %v", r, p.name, err)
		}
		o := found.object(r)
		if want := object.AffinityLabels(node, block); r.Kind == model.KindAffinity && !reflect.DeepEqual(o.Labels, want) {
			t.Errorf("Calico's labels %v, ours %v", o.Labels, want)
		}
	}
}
