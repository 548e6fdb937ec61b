package change

import (
	"encoding/json"
	"net/netip"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

func using(on model.Ref, l *RunningPod) Use {
	return Use{On: on, For: []string{"f"}, Proofs: map[string]*Proof{"f": {Running: l}}}
}

// An edited plan must not end a pod while IPAM still names it: its DEL would free the address of the one
// that stays.
func TestEvictKeepsForThePodThatStays(t *testing.T) {
	t.Parallel()
	const stays, goes = "k8s-pod-network.1111111111111111111111111111111111111111111111111111111111111111", "k8s-pod-network.2222222222222222222222222222222222222222222222222222222222222222"
	ip := netip.MustParseAddr("10.0.0.1")
	evict := func(keep Keep) *Evict {
		return &Evict{UID: "u", Keeps: []Keep{keep}, Has: RunningPod{UID: "u", Container: model.ContainerOf(goes), IPs: []netip.Addr{ip}}}
	}
	u := using(model.Ref{Kind: model.KindPod, Name: "shop/b"}, &RunningPod{Container: model.ContainerOf(stays), IPs: []netip.Addr{ip}})
	if err := evict(Keep{IP: ip, Handle: stays}).Validate(u); err != nil {
		t.Error(err)
	}
	for name, keep := range map[string]Keep{
		"its own handle":              {IP: ip, Handle: goes},
		"an address it does not have": {IP: ip.Next(), Handle: stays},
		"a pod that is not verified":  {IP: ip, Handle: "k8s-pod-network.3333333333333333333333333333333333333333333333333333333333333333"},
	} {
		if evict(keep).Validate(u) == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// Felix routes all of a network that an endpoint or an annotation has to the pod.
func TestOneAddressEach(t *testing.T) {
	t.Parallel()
	l := &RunningPod{Namespace: "shop", Pod: "web", UID: "u", Node: "n1", Container: "c", Device: "cali1", IPs: []netip.Addr{netip.MustParseAddr("10.0.9.5")}}
	on := model.Ref{Kind: model.KindEndpoint, Name: model.EndpointName("n1", &model.Pod{Namespace: "shop", Name: "web"})}
	blocks := []netip.Prefix{netip.MustParsePrefix("10.0.9.0/26")}
	for network, want := range map[string]bool{"10.0.9.5/32": true, "10.0.9.5/27": false} {
		body, err := json.Marshal(map[string]any{"metadata": map[string]any{"namespace": "shop"}, "spec": map[string]any{
			"pod": "web", "node": "n1", "containerID": "c", "interfaceName": "cali1", "ipNetworks": []string{network},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := (&Endpoint{Want: body, Blocks: blocks}).Validate(using(on, l)); (err == nil) != want {
			t.Errorf("endpoint with %s: %v", network, err)
		}
		a := &Annotate{UID: "u", Container: "c", IPs: []netip.Prefix{netip.MustParsePrefix(network)}, Blocks: blocks}
		if err := a.Validate(using(model.Ref{Kind: model.KindPod, Name: "shop/web"}, l)); (err == nil) != want {
			t.Errorf("annotation with %s: %v", network, err)
		}
	}
}

// A route or neighbour entry that is deleted is one of the pod that is verified.
func TestOnNodeOfThePod(t *testing.T) {
	t.Parallel()
	l := &RunningPod{Node: "n1", IPs: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")}}
	for _, c := range []struct {
		verb string
		kind model.Kind
		on   string
		want bool
	}{
		{"unroute", model.KindPath, "n1/10.0.0.1", true},
		{"unroute", model.KindPath, "n1/fd00::1", true},
		{"unroute", model.KindPath, "n1/10.0.0.2", false},
		{"unroute", model.KindPath, "n1", false},
		{"unneighbour", model.KindNeighbour, "n1/10.0.0.1/cali1", true},
		{"unneighbour", model.KindNeighbour, "n1/10.0.0.2/cali1", false},
	} {
		n := &OnNode{Verb: c.verb}
		if err := n.Validate(using(model.Ref{Kind: c.kind, Name: c.on}, l)); (err == nil) != c.want {
			t.Errorf("%s of %s: %v", c.verb, c.on, err)
		}
	}
}
