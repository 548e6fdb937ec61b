package parse

import (
	"bytes"
	"net/netip"

	"plumbline.dev/plumbline/internal/timeline/records"
)

// maxName is the longest name that Kubernetes and Calico give: node, pod and interface.
const maxName = 600

// id gives a name, an ID or a handle, empty if it has characters that these cannot have.
func id(b []byte) string {
	if len(b) == 0 || len(b) > maxName {
		return ""
	}
	for _, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c == '-', c == '.', c == '_', c == '@':
		default:
			return ""
		}
	}
	return string(b)
}

// podOf gives NAMESPACE/NAME of a workload of 2017, NAMESPACE.NAME.
func podOf(workload []byte) string {
	return podAt(workload, '.')
}

// podAt gives NAMESPACE/NAME of the two joined by a separator.
func podAt(b []byte, sign byte) string {
	i := bytes.IndexByte(b, sign)
	if i < 0 {
		return ""
	}
	ns, name := id(b[:i]), id(b[i+1:])
	if ns == "" || name == "" {
		return ""
	}
	return ns + "/" + name
}

// nodeOf gives the node of an endpoint's name, NODE-k8s-POD-INTERFACE, in which every
// dash that belongs to a name is doubled.
func nodeOf(endpoint []byte) string {
	for i := 0; i < len(endpoint); i++ {
		if endpoint[i] != '-' {
			continue
		}
		if hasPrefix(endpoint[i:], "--") {
			i++
			continue
		}
		if !hasPrefix(endpoint[i:], "-k8s-") {
			return ""
		}
		return id(bytes.ReplaceAll(endpoint[:i], []byte("--"), []byte("-")))
	}
	return ""
}

// get gives a field of a line in any format.
func get(r *records.Record, key string) []byte {
	if r.Style == records.Logrus {
		return field(r.Fields, key)
	}
	return field(r.Text, key)
}

// address gives an address, with or without the length of its prefix.
func address(b []byte) netip.Addr {
	const longest = 64
	if i := bytes.IndexByte(b, '/'); i >= 0 {
		b = b[:i]
	}
	if len(b) > longest {
		return netip.Addr{}
	}
	a, err := netip.ParseAddr(string(b))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

// addressIn gives the first address of a list in brackets.
func addressIn(text []byte) netip.Addr {
	list, ok := between(text, "[", "]")
	if !ok {
		return netip.Addr{}
	}
	list, _, _ = bytes.Cut(list, []byte(" "))
	return address(list)
}

// errorOf gives a line's error: the text after error=, which Calico writes
// without quotes and last, else the message.
func errorOf(r *records.Record) string {
	words := r.Text
	if r.Style == records.Logrus {
		if e := field(r.Fields, "error"); e != nil {
			words = e
		}
	} else if i := indexString(r.Text, " error="); i >= 0 {
		words = r.Text[i+len(" error="):]
	}
	return note(words)
}

// sentence gives a message without its fields: up to the first word with an equals sign.
func sentence(text []byte) string {
	end := len(text)
	if i := bytes.IndexByte(text, '='); i >= 0 {
		end = max(0, bytes.LastIndexByte(text[:i], ' '))
	}
	return note(text[:end])
}
