package scrub

import "bytes"

const (
	bearerKind = "bearer token"
	basicKind  = "basic auth"
)

// shortToken is the least length of a secret of unknown form.
const shortToken = 16

// scheme finds what follows Bearer or Basic, if it looks like a secret, by the second
// letter.
func scheme(b []byte, from, i int) (span, bool) {
	if _, end, ok := word(b, from, i, 1, "bearer"); ok {
		if start, stop := valueAfter(b, end); random(b[start:stop], shortToken) {
			return span{start, stop, bearerKind}, true
		}
		return span{}, false
	}
	if _, end, ok := word(b, from, i, 1, "basic"); ok {
		if start, stop := valueAfter(b, end); userColonPassword(b[start:stop]) {
			return span{start, stop, basicKind}, true
		}
	}
	return span{}, false
}

// authorization finds the value of an HTTP header of that name, of any form, by its z.
func authorization(b []byte, from, i int) (span, bool) {
	_, end, ok := word(b, from, i, 7, "authorization")
	if !ok {
		return span{}, false
	}
	sign, ok := sign(b, end)
	if !ok {
		return span{}, false
	}
	at := over(b, sign, around)
	for _, s := range []struct{ name, kind string }{{"bearer", bearerKind}, {"basic", basicKind}} {
		_, end, ok := word(b, from, at, 0, s.name)
		if !ok {
			continue
		}
		start, stop := valueAfter(b, end)
		if start == stop || placeholder(b[start:stop]) {
			return span{}, false
		}
		return span{start, stop, s.kind}, true
	}
	start, stop := value(b, sign)
	if !random(b[start:stop], shortToken) {
		return span{}, false
	}
	return span{start, stop, bearerKind}, true
}

// value gives begin and end of the value after i.
func value(b []byte, i int) (start, end int) {
	start = over(b, i, around)
	end, _ = run(b, start, opaque)
	return start, over(b, end, padding)
}

// valueAfter is as value, but empty if no separator is at i.
func valueAfter(b []byte, i int) (start, end int) {
	if i == len(b) || !around[b[i]] {
		return i, i
	}
	return value(b, i)
}

// userColonPassword reports whether base64 text decodes to user:password.
func userColonPassword(coded []byte) bool {
	if len(coded) < 8 {
		return false
	}
	var room [64]byte
	text := decode(room[:0], coded)
	for _, c := range text {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return bytes.IndexByte(text, ':') > 0
}
