package planner

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

const podBody = `{"metadata":{"name":"db-0","namespace":"shop","uid":"uid-1","generateName":"db-","labels":{"app":"db","projectcalico.org/namespace":"forged"},
 "annotations":{"cni.projectcalico.org/podIP":"","kubernetes.io/ingress-bandwidth":"1M","qos.projectcalico.org/egressBandwidth":"1M"%s}},
 "spec":{"nodeName":"w-17","serviceAccountName":%q,"containers":[
  {"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"},{"containerPort":9090},{"containerPort":53,"hostPort":5353,"hostIP":"192.168.0.1","protocol":"UDP"}]},
  {"ports":[{"name":"sctp","containerPort":7,"protocol":"SCTP"},{"name":"odd","containerPort":8,"protocol":"DCCP"},{"name":"plain","containerPort":9}]}],
  "initContainers":[{"ports":[{"name":"init","containerPort":1}]}]}}`

// healthyBody is an endpoint in the order and with the fields of v3.31.0's own structs.
const healthyBody = `{"kind":"WorkloadEndpoint","apiVersion":"projectcalico.org/v3","metadata":{"name":"w--17-k8s-web--1-eth0","generateName":"web-","namespace":"shop",
 "uid":"0e5f9c9a-6f1c-4c0a-8a53-1f5f0a3b2c1d","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"web","projectcalico.org/namespace":"shop","projectcalico.org/orchestrator":"k8s","projectcalico.org/serviceaccount":"default"}},
 "spec":{"orchestrator":"k8s","node":"w-17","containerID":"c","pod":"web-1","endpoint":"eth0","serviceAccountName":"default","ipNetworks":["10.0.0.9/32"],
 "profiles":["kns.shop","ksa.shop.default"],"interfaceName":"cali%s","mac":"aa:bb:cc:dd:ee:ff","ports":[{"name":"http","protocol":"TCP","port":80,"hostPort":0,"hostIP":""}]%s}}`

func sources(annotations, sa string) (podSource, nodeSource, json.RawMessage) {
	pod := podSource{JSON: json.RawMessage(fmt.Sprintf(podBody, annotations, sa)), UID: "uid-1"}
	node := nodeSource{
		Node: "w-17", Name: "w-17", Container: "c1", Device: "cali" + model.DeviceName("", "shop", "db-0"), MAC: "AA:BB:CC:00:00:01",
		IPs: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")}, UID: "u", Created: 1767261600,
	}
	return pod, node, json.RawMessage(fmt.Sprintf(healthyBody, model.DeviceName("", "shop", "web-1"), ""))
}

// The expected text was written by hand from v3.31.0's k8s.go and its converter.
func TestEndpointBody(t *testing.T) {
	t.Parallel()
	pod, node, healthy := sources(`,"cni.projectcalico.org/allowedSourcePrefixes":"[\"10.9.1.7/16\",\"fd01::1/64\"]"`, "default")
	got, err := writeEndpoint(pod, node, healthy)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"WorkloadEndpoint","apiVersion":"projectcalico.org/v3",` +
		`"metadata":{"name":"w--17-k8s-db--0-eth0","generateName":"db-","namespace":"shop","uid":"u","creationTimestamp":"2026-01-01T10:00:00Z",` +
		`"labels":{"app":"db","projectcalico.org/namespace":"shop","projectcalico.org/orchestrator":"k8s","projectcalico.org/serviceaccount":"default"}},` +
		`"spec":{"orchestrator":"k8s","node":"w-17","containerID":"c1","pod":"db-0","endpoint":"eth0","serviceAccountName":"default",` +
		`"ipNetworks":["10.0.0.1/32","fd00::1/128"],"profiles":["kns.shop","ksa.shop.default"],"interfaceName":"cali43878a68a0a","mac":"aa:bb:cc:00:00:01",` +
		`"ports":[{"name":"http","protocol":"TCP","port":8080,"hostPort":0,"hostIP":""},{"name":"","protocol":"UDP","port":53,"hostPort":5353,"hostIP":"192.168.0.1"},` +
		`{"name":"sctp","protocol":"SCTP","port":7,"hostPort":0,"hostIP":""},{"name":"plain","protocol":"TCP","port":9,"hostPort":0,"hostIP":""},{"name":"init","protocol":"TCP","port":1,"hostPort":0,"hostIP":""}],` +
		`"allowSpoofedSourcePrefixes":["10.9.0.0/16","fd01::/64"]}}`
	if string(got) != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// A name of 63 characters and more is no label, and none at all is no profile.
func TestEndpointBodyAccounts(t *testing.T) {
	t.Parallel()
	for _, sa := range []string{"", strings.Repeat("a", 62), strings.Repeat("a", 63)} {
		pod, node, healthy := sources("", sa)
		raw, err := writeEndpoint(pod, node, healthy)
		if err != nil {
			t.Fatal(err)
		}
		var got endpointBody
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if _, labelled := got.Metadata.Labels[labelServiceAccount]; labelled != (len(sa) == 62) {
			t.Errorf("%d characters: labelled is %v", len(sa), labelled)
		}
		if want := map[bool]int{true: 1, false: 2}[sa == ""]; len(got.Spec.Profiles) != want {
			t.Errorf("%q: profiles %v", sa, got.Spec.Profiles)
		}
	}
}

func TestEndpointBodyRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		annotations string
		change      func(p *podSource, n *nodeSource, h *json.RawMessage)
		says        string
	}{
		"floating addresses": {annotations: `,"cni.projectcalico.org/floatingIPs":"[\"1.2.3.4\"]"`, says: "floatingIPs"},
		"broken prefixes":    {annotations: `,"cni.projectcalico.org/allowedSourcePrefixes":"[\"x\"]"`, says: "allowedSourcePrefixes"},
		"broken list":        {annotations: `,"cni.projectcalico.org/allowedSourcePrefixes":"10.0.0.0/8"`, says: "allowedSourcePrefixes"},
		"another pod":        {change: func(p *podSource, _ *nodeSource, _ *json.RawMessage) { p.UID = "uid-2" }, says: "not the pod"},
		"another node":       {change: func(_ *podSource, n *nodeSource, _ *json.RawMessage) { n.Node = "w-18" }, says: "not the pod"},
		"no pod":             {change: func(p *podSource, _ *nodeSource, _ *json.RawMessage) { p.JSON = nil }, says: "read pod"},
		"no MAC":             {change: func(_ *podSource, n *nodeSource, _ *json.RawMessage) { n.MAC = "" }, says: "no valid MAC"},
		"no address":         {change: func(_ *podSource, n *nodeSource, _ *json.RawMessage) { n.IPs = nil }, says: "report of its node is incomplete"},
		"no healthy one":     {change: func(_ *podSource, _ *nodeSource, h *json.RawMessage) { *h = nil }, says: "no healthy endpoint"},
		"ending": {change: func(p *podSource, _ *nodeSource, _ *json.RawMessage) {
			p.JSON = json.RawMessage(strings.Replace(string(p.JSON), `"uid":`, `"deletionTimestamp":"2026-01-01T00:00:00Z","uid":`, 1))
		}, says: "being deleted"},
		"a port beyond": {change: func(p *podSource, _ *nodeSource, _ *json.RawMessage) {
			p.JSON = json.RawMessage(strings.Replace(string(p.JSON), `8080`, `88080`, 1))
		}, says: "port 88080"},
		"another field": {change: func(_ *podSource, _ *nodeSource, h *json.RawMessage) {
			*h = json.RawMessage(fmt.Sprintf(healthyBody, model.DeviceName("", "shop", "web-1"), `,"qosControls":{"ingressBandwidth":1}`))
		}, says: "qosControls"},
		"another policy": {change: func(_ *podSource, _ *nodeSource, h *json.RawMessage) {
			*h = json.RawMessage(strings.Replace(string(*h), `["kns.shop","ksa.shop.default"]`, `["k8s-pod-network"]`, 1))
		}, says: "profiles k8s-pod-network"},
		"another prefix": {change: func(_ *podSource, _ *nodeSource, h *json.RawMessage) {
			*h = json.RawMessage(strings.Replace(string(*h), `"cali`, `"tap`, 1))
		}, says: "device tap"},
		"another version": {change: func(_ *podSource, _ *nodeSource, h *json.RawMessage) {
			*h = json.RawMessage(strings.Replace(string(*h), `projectcalico.org/v3"`, `projectcalico.org/v4"`, 1))
		}, says: "v4"},
		"no labels": {change: func(_ *podSource, _ *nodeSource, h *json.RawMessage) {
			*h = json.RawMessage(strings.Replace(string(*h), `"projectcalico.org/orchestrator":"k8s",`, ``, 1))
		}, says: "lacks labels"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod, node, healthy := sources(c.annotations, "default")
			if c.change != nil {
				c.change(&pod, &node, &healthy)
			}
			got, err := writeEndpoint(pod, node, healthy)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %s, %v; want an error that says %q", got, err, c.says)
			}
		})
	}
}

// Whatever a pod says of itself, its endpoint has the labels and profiles of its own
// namespace, and is read again as what was written.
func FuzzEndpointBody(f *testing.F) {
	pod, _, healthy := sources("", "default")
	f.Add([]byte(pod.JSON), []byte(healthy))
	f.Add([]byte(`{"metadata":{"uid":"uid-1"}}`), []byte(`{}`))
	f.Add([]byte(`null`), []byte(`null`))
	f.Fuzz(func(t *testing.T, p, h []byte) {
		_, node, _ := sources("", "")
		raw, err := writeEndpoint(podSource{JSON: p, UID: "uid-1"}, node, h)
		if err != nil {
			return
		}
		var got endpointBody
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		m := got.Metadata
		if m.Labels[labelNamespace] != m.Namespace || m.Labels[labelOrchestrator] != "k8s" || got.Spec.Profiles[0] != "kns."+m.Namespace || got.Spec.Node != node.Name {
			t.Errorf("%s", raw)
		}
	})
}
