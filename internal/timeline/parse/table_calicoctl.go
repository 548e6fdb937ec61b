package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// endpointListed reports whether a row is one of a pod in what calicoctl of 2017 wrote for
// `get workloadendpoint -o wide`: NODE ORCHESTRATOR WORKLOAD NAME NETWORKS INTERFACE and
// PROFILES. The profile names the namespace once more.
func endpointListed(c *cells) bool {
	if c.n != 7 || string(c.all[1]) != "k8s" || !plainName(c.all[0]) || !plainName(c.all[3]) || !plainName(c.all[5]) {
		return false
	}
	i := bytes.IndexByte(c.all[2], '.')
	namespace, ok := bytes.CutPrefix(c.all[6], []byte("k8s_ns."))
	return ok && i > 0 && plainName(c.all[2][i+1:]) && string(c.all[2][:i]) == string(namespace) && plainName(namespace) && hostAddress(c.all[4])
}

// hostAddress reports whether b is one address with its length: 192.168.8.33/32.
func hostAddress(b []byte) bool {
	return address(b).IsValid() && (bytes.HasSuffix(b, []byte("/32")) || bytes.HasSuffix(b, []byte("/128")))
}

// endpointRow parses such a row. It shows only Calico's endpoint, not that the pod has the address,
// and names no sandbox.
func (t *Parser) endpointRow(r *records.Record, c *cells) {
	t.sayOf(r, "calicoctl", timeline.Event{
		Kind: timeline.PodSeen, Pod: podOf(c.all[2]), Node: nodeName(c.all[0]), Address: address(c.all[4]), Device: string(c.all[5]),
	})
}
