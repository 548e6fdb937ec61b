package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// An endpointCells is a row of a pod in what calicoctl writes for `get workloadendpoint`.
type endpointCells struct {
	namespace, workload, node, network, device []byte
}

// endpointListed reads the rows of both: of 2017, `-o wide` as NODE ORCHESTRATOR WORKLOAD NAME
// NETWORKS INTERFACE PROFILES, where the profile names the namespace once more; and since Calico
// 3, NAMESPACE NAME WORKLOAD NODE NETWORKS INTERFACE PROFILES, without NAME and PROFILES unless
// `-o wide`, without NAMESPACE unless `-A`: then the profile names it, or nothing does.
func endpointListed(c *cells) (e endpointCells, ok bool) {
	at := 3
	for at < c.n && !bytes.HasPrefix(c.all[at], cali) {
		at++
	}
	if at >= c.n || !plainName(c.all[at]) || !hostAddress(c.all[at-1]) {
		return e, false
	}
	e.device, e.network = c.all[at], c.all[at-1]
	if at == 5 && c.n == 7 && string(c.all[1]) == "k8s" {
		return e.of2017(c)
	}
	e.node, e.workload = c.all[at-2], c.all[at-3]
	wide := c.n > at+1
	profile, _, _ := bytes.Cut(c.all[min(at+1, maxCells-1)], []byte{','})
	switch {
	case at == 4 && !wide, at == 5 && wide && endpointName(c.all[1], &e):
		e.namespace = c.all[0]
	case at == 4 && endpointName(c.all[0], &e) && hasPrefix(profile, "kns."):
		e.namespace = profile[len("kns."):]
	}
	return e, plainName(e.namespace) && plainName(e.workload) && plainName(e.node)
}

// of2017 reads the rest of a row of 2017.
func (e endpointCells) of2017(c *cells) (endpointCells, bool) {
	namespace, ok := bytes.CutPrefix(c.all[6], []byte("k8s_ns."))
	e.namespace, e.workload, _ = bytes.Cut(c.all[2], []byte{'.'})
	e.node = c.all[0]
	return e, ok && string(e.namespace) == string(namespace) && plainName(namespace) && plainName(e.workload) && plainName(e.node) && plainName(c.all[3])
}

// endpointName reports whether b is the name of the endpoint: NODE-k8s-POD-eth0, with - doubled.
func endpointName(b []byte, e *endpointCells) bool {
	return plainName(b) && len(b) > len(e.node)+len(e.workload) && bytes.Contains(b, []byte("-k8s-")) && bytes.HasSuffix(b, []byte("-eth0"))
}

// hostAddress reports whether b is an address with its length, or several: 192.168.8.33/32.
func hostAddress(b []byte) bool {
	for more := true; more; {
		var one []byte
		one, b, more = bytes.Cut(b, []byte{','})
		if !address(one).IsValid() || !bytes.HasSuffix(one, []byte("/32")) && !bytes.HasSuffix(one, []byte("/128")) {
			return false
		}
	}
	return true
}

// endpointRow parses such a row. It shows only Calico's endpoint, not that the pod has the address,
// and names no sandbox.
func (t *Parser) endpointRow(r *records.Record, c *cells) {
	e, ok := endpointListed(c)
	if !ok {
		return
	}
	network, _, _ := bytes.Cut(e.network, []byte{','})
	t.sayOf(r, "calicoctl", timeline.Event{
		Kind: timeline.PodSeen, Pod: podNamed(e.namespace, e.workload), Node: nodeName(e.node), Address: address(network), Device: string(e.device),
	})
}
