package parse

import "plumbline.dev/plumbline/internal/timeline/records"

// wantsPlain reports whether a line without a header is one that Calico's plugin of 2017
// wrote beside its log. Its other lines do not identify a call.
func wantsPlain(r *records.Record) bool {
	if !hasPrefix(r.Text, "Calico CNI ") {
		return false
	}
	w := said(r.Text)
	return w == usingAddresses || w == assignedResult
}

// plain parses such a line. It names neither pod nor sandbox: it belongs to the only open ADD, or
// shows only the address.
func (t *Parser) plain(r *records.Record) {
	k := t.cni.only(r, add)
	if k == nil {
		k = new(call)
	}
	t.told(r, said(r.Text), k)
}
