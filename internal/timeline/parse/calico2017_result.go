package parse

import (
	"bytes"
	"net/netip"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// result reports the addresses that IPAM assigned in an ADD of 2017. IPAM's own lines name neither
// pod nor sandbox and cannot be attributed while two calls are open; the plugin's name the pod.
func (t *Parser) result(r *records.Record, k *call) {
	for _, key := range [...]string{"result.IP4", "result.IP6"} {
		a := resultAddress(get(r, key))
		if !k.gave(a) {
			continue
		}
		e := k.event(timeline.AddressAssigned)
		e.Address, e.Object = a, id(get(r, "Workload"))
		t.say(r, "ipam", e)
	}
}

// resultAddress reads &{{ADDRESS MASK} GATEWAY ROUTES}. A
// brace may be lost in a pasted line.
func resultAddress(b []byte) netip.Addr {
	b = bytes.TrimLeft(b, `&\{`)
	if i := bytes.IndexByte(b, ' '); i >= 0 {
		b = b[:i]
	}
	return address(b)
}

// populatedAddress gives the address of an endpoint that is printed whole: with the names
// of its fields today, without them in 2017.
func populatedAddress(r *records.Record) netip.Addr {
	text := r.Text
	if r.Style == records.Logrus {
		text = r.Fields
	}
	for _, before := range [...]string{` IPNetworks:[]string{"`, ` {[`} {
		if v, ok := between(text, before, "/"); ok {
			return address(v)
		}
	}
	return netip.Addr{}
}
