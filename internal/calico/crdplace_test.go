package calico

import (
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
)

func TestWhereCalicoKeepsIt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 250)
	for _, c := range []struct {
		kind       model.Kind
		name, want string
	}{
		{model.KindBlock, "10.244.8.0/26", "ipamblocks/10-244-8-0-26"},
		{model.KindBlock, "fd00:1::40/122", "ipamblocks/fd00-1--40-122"},
		{model.KindHandle, "k8s-pod-network.AbC", "ipamhandles/k8s-pod-network.abc"},
		{model.KindAffinity, "w1/10.244.8.0/26", "blockaffinities/w1-10-244-8-0-26"},
		{model.KindAffinity, "w1.example.org/fd00:1::40/122", "blockaffinities/w1.example.org-fd00-1--40-122"},
		// A name of 252 stands; the hash is that of "node+range".
		{model.KindAffinity, long[:252-14] + "/10.244.8.0/26", "blockaffinities/" + long[:252-14] + "-10-244-8-0-26"},
		{model.KindAffinity, long[:239] + "/10.244.8.0/26", "blockaffinities/" + long[:226] + "-10-244-8-0-26-968b2bde8c9"},
	} {
		p, err := placeOf(model.Ref{Kind: c.kind, Name: c.name})
		if got := p.resource + "/" + p.name; err != nil || got != c.want {
			t.Errorf("%s %s: %s, %v; want %s", c.kind, c.name, got, err, c.want)
		}
		if len(p.name) > 252 {
			t.Errorf("%s: a name of %d", c.name, len(p.name))
		}
	}
}

func TestRefsThatNameNothing(t *testing.T) {
	t.Parallel()
	for _, r := range []model.Ref{
		{Kind: model.KindBlock, Name: ""},
		{Kind: model.KindBlock, Name: "10.244.8.1/26"},
		{Kind: model.KindBlock, Name: "10.244.8.0/026"},
		{Kind: model.KindBlock, Name: "::ffff:10.0.0.0/122"},
		{Kind: model.KindBlock, Name: "10.244.8.0"},
		{Kind: model.KindHandle, Name: ""},
		{Kind: model.KindHandle, Name: ".."},
		{Kind: model.KindHandle, Name: "../ippools/x"},
		{Kind: model.KindAffinity, Name: "10.244.8.0/26"},
		{Kind: model.KindAffinity, Name: "/10.244.8.0/26"},
		{Kind: model.KindAffinity, Name: "w1/x/10.244.8.0/26"},
		{Kind: model.KindEndpoint, Name: "default"},
		{Kind: model.KindEndpoint, Name: "default/a/b"},
		{Kind: model.KindPool, Name: "x"},
	} {
		if err := exact(r); !errors.Is(err, execute.ErrRefused) {
			t.Errorf("%s: %v", r, err)
		}
	}
	if _, err := placeOf(model.Ref{Kind: model.KindEndpoint, Name: "a/b"}); !errors.Is(err, execute.ErrRefused) {
		t.Errorf("an endpoint among the custom resources: %v", err)
	}
}

func TestWhoseSpecItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind       model.Kind
		name, spec string
		want       bool
	}{
		{model.KindBlock, "10.0.0.0/26", `{"cidr":"10.0.0.0/26"}`, true},
		{model.KindBlock, "10.0.0.0/26", `{"cidr":"10.0.0.64/26"}`, false},
		{model.KindBlock, "10.0.0.0/26", `{"cidr":7}`, false},
		{model.KindBlock, "10.0.0.0/26", ``, false},
		{model.KindHandle, "Net.C1", `{"handleID":"net.c1"}`, true},
		{model.KindHandle, "net.c1", `{}`, false},
		{model.KindHandle, "net.c1", `{"handleID":"net.c2"}`, false},
		{model.KindAffinity, "w1/10.0.0.0/26", `{"node":"w1","cidr":"10.0.0.0/26"}`, true},
		{model.KindAffinity, "w1/10.0.0.0/26", `{"node":"w2","cidr":"10.0.0.0/26"}`, false},
		{model.KindAffinity, "w1/10.0.0.0/26", `{"node":"w1","cidr":"10.0.0.0/27"}`, false},
		{model.KindAffinity, "w1/10.0.0.0/26", `{"node":"w1","cidr":"10.0.0.0/26","type":"virtual"}`, false},
		{model.KindEndpoint, "a/b", `{}`, false},
	} {
		if got := isOf(model.Ref{Kind: c.kind, Name: c.name}, []byte(c.spec)); got != c.want {
			t.Errorf("%s %s %s: %v", c.kind, c.name, c.spec, got)
		}
	}
}

// TestAffinityLabels: as Calico 3.31.0 wrote them; the lab test has it write them anew.
func TestAffinityLabels(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"projectcalico.org/hostname-hash": "PY3TQE2E3XMTETLM2MJO3UITKPFB27YUJ4T4E5XGPEJON3SM4QAA",
		"projectcalico.org/affinity-type": "host",
		"projectcalico.org/ip-version":    "4",
	}
	if got := object.AffinityLabels("node-a", netip.MustParsePrefix("10.0.0.0/26")); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	want["projectcalico.org/ip-version"] = "6"
	if got := object.AffinityLabels("node-a", netip.MustParsePrefix("fd00::/122")); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}
