package parse

import (
	"bytes"
	"net/netip"
	"strings"
)

// Bounds of names: a longer text is not a name.
const (
	maxPodName = 253 + 1 + 63
	maxUID     = 64
	maxID      = 128
	minID      = 12 // docker's short form
)

// oldPod reads NAME_NAMESPACE or NAME_NAMESPACE(UID), as the kubelet wrote it until it
// logged with fields. No name of Kubernetes has an underscore.
func oldPod(b []byte) (pod, uid string) {
	b, rest, more := bytes.Cut(b, []byte{'('})
	if more {
		uid = uidOf(rest)
	}
	name, namespace, _ := bytes.Cut(b, []byte{'_'})
	return podNamed(namespace, name), uid
}

// turnedPod reads NAMESPACE_NAME.
func turnedPod(b []byte) string {
	namespace, name, _ := bytes.Cut(b, []byte{'_'})
	return podNamed(namespace, name)
}

// newPod reads NAMESPACE/NAME; what follows a second slash is a container's name.
func newPod(b []byte) string {
	namespace, name, _ := bytes.Cut(b, []byte{'/'})
	name, _, _ = bytes.Cut(name, []byte{'/'})
	return podNamed(namespace, name)
}

// podNamed gives NAMESPACE/NAME; empty if one of them is no name.
func podNamed(namespace, name []byte) string {
	if !plainName(name) || !plainName(namespace) {
		return ""
	}
	return string(namespace) + "/" + string(name)
}

// plainName reports whether b may be a name: short and without separators. Capitals are accepted,
// because people who publish logs replace names by XXXX.
func plainName(b []byte) bool {
	if len(b) == 0 || len(b) > maxPodName {
		return false
	}
	for _, c := range b {
		if c != '-' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// uidOf reads the UID that b begins with; empty if it is none.
func uidOf(b []byte) string {
	b = upTo(b, maxUID)
	if !plainName(b) {
		return ""
	}
	return string(b)
}

// containerID reads the ID that b begins with, without quotes and the runtime's name
// before it; empty if it is none.
func containerID(b []byte) string {
	b = bytes.TrimLeft(b, `\"' `)
	if i := bytes.Index(b[:min(len(b), 16)], []byte("://")); i >= 0 {
		b = b[i+3:]
	}
	n := 0
	for n < len(b) && n <= maxID && (b[n] >= '0' && b[n] <= '9' || b[n] >= 'a' && b[n] <= 'f') {
		n++
	}
	if n < minID || n > maxID {
		return ""
	}
	return string(b[:n])
}

// idAfter gives the first ID after a word. In a pasted line that was wrapped the space between
// them may be missing.
func idAfter(text []byte, word string) string {
	word = strings.TrimRight(word, " ")
	for {
		i := indexString(text, word)
		if i < 0 {
			return ""
		}
		text = text[i+len(word):]
		if id := containerID(text); id != "" {
			return id
		}
	}
}

// leadingAddress reads the address that b begins with; a prefix's length is left off.
func leadingAddress(b []byte) netip.Addr {
	n := 0
	for n < len(b) && n < 48 && (b[n] >= '0' && b[n] <= '9' || b[n] >= 'a' && b[n] <= 'f' || b[n] == '.' || b[n] == ':') {
		n++
	}
	a, err := netip.ParseAddr(string(b[:n]))
	if err != nil {
		return netip.Addr{}
	}
	return a
}

// unescaped takes one layer of escapes off a quoted value.
func unescaped(b []byte) []byte {
	b = b[:min(len(b), maxWords)]
	if bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		switch b[i] {
		case 'n', 'r', 't':
			out = append(out, ' ')
		default:
			out = append(out, b[i])
		}
	}
	return out
}
