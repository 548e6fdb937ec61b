package executetest

import (
	"encoding/json"
	"maps"
	"net/netip"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

func endpointRef(node, ns, name string) model.Ref {
	return model.Ref{Kind: model.KindEndpoint, Name: model.EndpointName(node, &model.Pod{Namespace: ns, Name: name})}
}

// newEndpoint is what Calico's plugin writes in etcd.
func newEndpoint(_ *world, a *add) *endpoint {
	return endpointFor(a.n.calico, a.b, a.ips)
}

func endpointFor(node string, b *box, ips []netip.Addr) *endpoint {
	e := &endpoint{ips: ips, spec: object.Endpoint{
		Orchestrator: lossless.Some("k8s"), Node: lossless.Some(node), Pod: lossless.Some(b.pod), ContainerID: lossless.Some(b.id),
		Endpoint: lossless.Some("eth0"), Interface: lossless.Some(deviceName(b.ns, b.pod)), MAC: lossless.Some(podMAC),
	}}
	for _, ip := range ips {
		e.spec.IPNetworks.V = append(e.spec.IPNetworks.V, single(ip).String())
	}
	e.spec.IPNetworks.Set = true
	e.spec.Extra = lossless.Extra{"profiles": json.RawMessage(`["kns.` + b.ns + `","ksa.` + b.ns + `.default"]`), "serviceAccountName": json.RawMessage(`"default"`)}
	spec, err := lossless.Encode(e.spec, e.spec.Extra)
	if err != nil {
		panic(err)
	}
	name := endpointRef(node, b.ns, b.pod).Name[len(b.ns)+1:]
	e.raw = map[string]json.RawMessage{
		"kind": json.RawMessage(`"WorkloadEndpoint"`), "apiVersion": json.RawMessage(`"projectcalico.org/v3"`), "spec": spec,
		"metadata": json.RawMessage(`{"name":"` + name + `","namespace":"` + b.ns + `","labels":{"projectcalico.org/namespace":"` + b.ns + `","projectcalico.org/orchestrator":"k8s","projectcalico.org/serviceaccount":"default"}}`),
	}
	return e
}

// with gives an endpoint that another sandbox wrote.
func (e *endpoint) with(container string) *endpoint {
	c := &endpoint{ips: e.ips, spec: e.spec, raw: maps.Clone(e.raw)}
	c.spec.ContainerID = lossless.Some(container)
	spec, err := lossless.Encode(c.spec, c.spec.Extra)
	if err != nil {
		panic(err)
	}
	c.raw["spec"] = spec
	return c
}
