package parse

import "plumbline.dev/plumbline/internal/timeline/records"

// wantsPlain tells whether a line without a header is one that Calico's plugin of 2017
// wrote beside its log. The others of them say nothing that identifies a call.
func wantsPlain(r *records.Record) bool {
	if !hasPrefix(r.Text, "Calico CNI ") {
		return false
	}
	w := said(r.Text)
	return w == usingAddresses || w == assignedResult
}

// plain tells of such a line. It names nobody: it belongs to the only ADD under way, or
// tells of the address alone.
func (t *Parser) plain(r *records.Record) {
	k := t.cni.only(r, add)
	if k == nil {
		k = new(call)
	}
	t.told(r, said(r.Text), k)
}
