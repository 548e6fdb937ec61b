package parse

import (
	"testing"

	"plumbline.dev/plumbline/internal/timeline/records"
)

// TestOpenings finds sentences that could never be heard: those in the wrong list, and
// those behind a shorter one that begins alike.
func TestOpenings(t *testing.T) {
	t.Parallel()
	heard := 0
	for letter, list := range openings {
		for _, o := range list {
			heard++
			if o.begins[0] != 'A'+byte(letter) {
				t.Errorf("%q stands among those with %c", o.begins, 'A'+letter)
			}
			if got := said([]byte(o.begins)); got != o.word {
				t.Errorf("%q is heard as %d, not as %d", o.begins, got, o.word)
			}
		}
	}
	if heard < 40 {
		t.Errorf("only %d sentences are known", heard)
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "A", "z", "\xff\x00", "Get", "Garbage collecting leaked IP addresses num=1", "Releasing address", "Zebra", "[INFO]"} {
		if w := said([]byte(s)); w != silence {
			t.Errorf("%q is heard as %d", s, w)
		}
	}
}

func TestWantsAllocatesNothing(t *testing.T) {
	records := wanting()
	if n := testing.AllocsPerRun(100, func() {
		for i := range records {
			calicos(&records[i])
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// wanting gives lines as they come: most of them are nothing.
func wanting() []records.Record {
	felix := func(s string) records.Record {
		return records.Record{Style: records.Bracket, Origin: "felix/int_dataplane.go", Text: []byte(s)}
	}
	return []records.Record{
		felix(`Applying dataplane updates`),
		felix(`Received *proto.WorkloadEndpointUpdate update from calculation graph. msg=id:{orchestrator_id:"k8s" workload_id:"late-del/etcd1-0"}`),
		felix(`Finished applying updates to dataplane. msecToApply=1.2`),
		felix(`Endpoint update received but no change`),
		{Style: records.Bracket, Origin: "ipam/ipam.go", Text: []byte(`Attempting to load block cidr=10.244.166.128/26 host="node1"`)},
		{Style: records.Bracket, Origin: "cni-plugin/k8s.go", Text: []byte(`Calico CNI found existing endpoint: &{{WorkloadEndpoint projectcalico.org/v3} {node1-k8s-etcd1--0-eth0`)},
		{Style: records.Bracket, Origin: "ipam/ipam.go", Text: []byte(`Auto-assigned 1 out of 1 IPv4s: [10.244.166.129/26] handle="k8s-pod-network.340b" host="node1"`)},
		{Style: records.Logrus, Text: []byte(`loading plugin "io.containerd.snapshotter.v1.overlayfs"...`)},
		{Style: records.Logrus, Text: []byte(`Container 340b1c7a1a90 failed to exit within 30 seconds of signal 15`)},
		{Style: records.Plain, Text: []byte(`Events:`)},
	}
}

// BenchmarkWants counts one line of those.
func BenchmarkWants(b *testing.B) {
	records := wanting()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		calicos(&records[i%len(records)])
	}
}

// TestNotPods: addresses that kube-controllers uses itself belong to no node and no pod.
func TestNotPods(t *testing.T) {
	t.Parallel()
	r := records.Record{Style: records.Bracket, Origin: "kube-controllers/ipam.go", Text: []byte("Auto-assign 1 ipv4, 0 ipv6 addrs for host 'load-balancer'")}
	if wantsCalico(&r) {
		t.Error("an address of a load balancer is wanted")
	}
	r.Origin = "ipam/ipam.go"
	if !wantsCalico(&r) {
		t.Error("an address of a pod is not wanted")
	}
}
