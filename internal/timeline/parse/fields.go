package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline/records"
)

// field gives the value of key=value or key="value" in a message, without its quotes; nil
// if it isn't there. Escapes in a quoted value are kept, and key=value
// inside a quoted value is not a field. It allocates nothing.
func field(text []byte, key string) []byte {
	for from := 0; ; {
		i := indexString(text[from:], key)
		if i < 0 {
			return nil
		}
		i += from
		end := i + len(key)
		if end < len(text) && text[end] == '=' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t') && !quoted(text[:i]) {
			return value(text[end+1:])
		}
		from = end
	}
}

// value gives the value at the beginning of text. A quoted one without a closing quote was cut
// off: it extends to the end.
func value(text []byte) []byte {
	v, _ := records.Value(text)
	return v
}

// quoted reports whether the text after this one is inside quotes.
func quoted(text []byte) bool {
	in := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			in = !in
		}
	}
	return in
}

// indexString is bytes.Index for a string, without making bytes of it.
func indexString(text []byte, s string) int {
	if s == "" {
		return -1
	}
	for from := 0; ; {
		i := bytes.IndexByte(text[from:], s[0])
		if i < 0 || from+i+len(s) > len(text) {
			return -1
		}
		from += i
		if string(text[from:from+len(s)]) == s {
			return from
		}
		from++
	}
}

// containsAny reports whether text contains one of the words.
func containsAny(text []byte, words ...string) bool {
	for _, w := range words {
		if indexString(text, w) >= 0 {
			return true
		}
	}
	return false
}

// hasPrefix is bytes.HasPrefix for a string.
func hasPrefix(text []byte, s string) bool {
	return len(text) >= len(s) && string(text[:len(s)]) == s
}

// between gives the text between the first before and the next after, and whether both exist.
func between(text []byte, before, after string) ([]byte, bool) {
	i := indexString(text, before)
	if i < 0 {
		return nil, false
	}
	text = text[i+len(before):]
	j := indexString(text, after)
	if j < 0 {
		return nil, false
	}
	return text[:j], true
}
