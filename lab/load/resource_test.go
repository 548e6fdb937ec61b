package load

import (
	"net/netip"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 15, 3, 32, 45, 0, time.UTC)

func TestHostHash(t *testing.T) {
	t.Parallel()
	// Observed on an affinity that Calico 3.31.0 wrote for node1.
	if got := hostHash("node1"); got != "7DS2CCNJGGLTHBDQLLFO6SX24SY2YDDEG3W2VN556FA2W4DLLV5A" {
		t.Error(got)
	}
}

// TestResourcesAreStoredAsTheAPIServerDoes compares with what etcd held after Calico
// 3.31.0 had written through the API server 1.34.4.
func TestResourcesAreStoredAsTheAPIServerDoes(t *testing.T) {
	t.Parallel()
	prefix := netip.MustParsePrefix("10.244.166.128/26")
	for _, c := range []struct {
		encode     func() (put, error)
		key, value string
	}{
		{
			affinity{node: "node1", uid: "6b163f0c-cb86-4be0-8645-f17aa5b8ec1f", block: prefix, created: noon}.resource,
			"/registry/crd.projectcalico.org/blockaffinities/node1-10-244-166-128-26",
			`{"apiVersion":"crd.projectcalico.org/v1","kind":"BlockAffinity","metadata":{"annotations":{"projectcalico.org/metadata":"{\"creationTimestamp\":null,\"labels\":{\"projectcalico.org/affinity-type\":\"host\",\"projectcalico.org/hostname-hash\":\"7DS2CCNJGGLTHBDQLLFO6SX24SY2YDDEG3W2VN556FA2W4DLLV5A\",\"projectcalico.org/ip-version\":\"4\"}}"},"creationTimestamp":"2026-11-15T03:32:45Z","generation":2,"labels":{"projectcalico.org/affinity-type":"host","projectcalico.org/hostname-hash":"7DS2CCNJGGLTHBDQLLFO6SX24SY2YDDEG3W2VN556FA2W4DLLV5A","projectcalico.org/ip-version":"4"},"managedFields":[{"apiVersion":"crd.projectcalico.org/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:projectcalico.org/metadata":{}},"f:labels":{".":{},"f:projectcalico.org/affinity-type":{},"f:projectcalico.org/hostname-hash":{},"f:projectcalico.org/ip-version":{}}},"f:spec":{".":{},"f:cidr":{},"f:deleted":{},"f:node":{},"f:state":{},"f:type":{}}},"manager":"Go-http-client","operation":"Update","time":"2026-11-15T03:32:45Z"}],"name":"node1-10-244-166-128-26","uid":"6b163f0c-cb86-4be0-8645-f17aa5b8ec1f"},"spec":{"cidr":"10.244.166.128/26","deleted":"false","node":"node1","state":"confirmed","type":"host"}}`,
		},
		{
			handle{id: "vxlan-tunnel-addr-node1", uid: "c81a2ffb-a7b0-43cc-8795-966c9fface03", block: prefix.String(), count: 1, created: noon}.resource,
			"/registry/crd.projectcalico.org/ipamhandles/vxlan-tunnel-addr-node1",
			`{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMHandle","metadata":{"annotations":{"projectcalico.org/metadata":"{\"creationTimestamp\":null}"},"creationTimestamp":"2026-11-15T03:32:45Z","generation":1,"managedFields":[{"apiVersion":"crd.projectcalico.org/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:projectcalico.org/metadata":{}}},"f:spec":{".":{},"f:block":{".":{},"f:10.244.166.128/26":{}},"f:deleted":{},"f:handleID":{}}},"manager":"Go-http-client","operation":"Update","time":"2026-11-15T03:32:45Z"}],"name":"vxlan-tunnel-addr-node1","uid":"c81a2ffb-a7b0-43cc-8795-966c9fface03"},"spec":{"block":{"10.244.166.128/26":1},"deleted":false,"handleID":"vxlan-tunnel-addr-node1"}}`,
		},
	} {
		got, err := c.encode()
		if err != nil || got.key != c.key || string(got.value) != c.value {
			t.Errorf("%v\n got %s %s\nwant %s %s", err, got.key, got.value, c.key, c.value)
		}
	}
}
