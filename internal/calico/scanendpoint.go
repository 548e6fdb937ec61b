package calico

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

var endpointFields = []string{"orchestrator", "node", "pod", "containerID", "endpoint", "interfaceName", "mac", "ipNetworks"}

func scanEndpoint(namespace string, b []byte, o origin) (row model.Endpoint, ok bool) {
	s := scan{b: b}
	k := o.keep.orNew()
	row = model.Endpoint{Namespace: namespace, Name: o.name, Written: o.written, Revision: o.revision}
	var seen uint
	var few [2]netip.Addr
	ips := few[:0]
	s.object(func(name []byte) {
		switch s.which(name, endpointFields, &seen) {
		case 0:
			row.Orchestrator = k.shared(s.text())
		case 1:
			row.Node = k.shared(s.text())
		case 2:
			row.Pod = k.own(s.text())
		case 3:
			row.ContainerID = k.own(s.text())
		case 4:
			row.Interface = k.shared(s.text())
		case 5:
			row.Device = k.own(s.text())
		case 6:
			row.MAC = k.shared(s.text())
		case 7:
			s.array(func() { ips = append(ips, s.prefix(s.text()).Addr().Unmap()) })
		default:
			s.skip(0)
		}
	})
	row.IPs = some(&k.addrs, ips)
	return row, s.end() && len(b) <= maxObject
}
