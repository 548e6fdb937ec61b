package scrub

import "bytes"

// notUserinfo are the characters that cannot be between :// and @.
var notUserinfo = set(" \t\r\n\"'<>/?#\\`|^{}()[],;")

// maxUserinfo bounds how far back the beginning of a URL is searched.
const maxUserinfo = 512

// password finds a password, or a token, before the @ of a URL.
func password(b []byte, from, i int) (span, bool) {
	start, colon, ok := userinfo(b, from, i)
	if !ok {
		return span{}, false
	}
	if open := back(b, start) - 2; open < from || b[open] != ':' || b[open+1] != '/' {
		return span{}, false
	}
	if bytes.HasPrefix(b[i+1:], []byte("sha256:")) || bytes.HasPrefix(b[i+1:], []byte("sha512:")) {
		return span{}, false // digest of an image name
	}
	if colon >= 0 {
		start = through(b, colon+1)
	}
	end := lastAt(b, i)
	if start >= end || placeholder(b[start:end]) || colon < 0 && !random(b[start:end], shortHead) {
		return span{}, false
	}
	return span{start, end, "password in a URL"}, true
}

// userinfo goes back from the @ at i to the last / before it: where the user information
// starts, and its first colon, or -1.
func userinfo(b []byte, from, i int) (start, colon int, ok bool) {
	start, colon = i, -1
	for limit := max(from, i-maxUserinfo); ; {
		j := back(b, start)
		switch {
		case j < limit:
			return 0, 0, false
		case b[j] == '/':
			return start, colon, true
		case notUserinfo[b[j]], b[j] == '@':
			return 0, 0, false
		case b[j] == ':':
			colon = j
		}
		start = j
	}
}

// lastAt gives the last @ of the user information: a password may contain one, unescaped.
func lastAt(b []byte, i int) int {
	for j := i + 1; j < len(b) && j < i+maxUserinfo && !notUserinfo[b[j]]; j++ {
		if b[j] == '@' {
			i = j
		}
	}
	return i
}
