package scrub

import (
	"bytes"
	"encoding/binary"
)

// A sign is one character of a credential by which it is recognised, with the characters that may
// be before and after it; any if empty.
var signs = []struct{ before, letters, after string }{
	{"yYdD", "J", ""},
	{"", "@", ""},
	{"Ii", "V", "Aa"},
	{"KS", "I", "A"},
	{"", "K", ""},
	{"OoIiSsTtEe_-", "k", "Ee"},
	{"Ss", "Ww", "OoDd"},
	{"Ee", "Cc", "Rr"},
	{"Bb", "Ee", "Aa"},
	{"Bb", "Aa", "Ss"},
	{"Ii", "Zz", "Aa"},
}

// A table marks pairs of bytes, the first in the low byte, with 1.
type table [1 << 16]uint8

func (t *table) mark(first, second string) {
	for _, f := range letters(first) {
		for _, s := range letters(second) {
			t[uint16(f)|uint16(s)<<8] = 1
		}
	}
}

func letters(of string) []byte {
	if of != "" {
		return []byte(of)
	}
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return all
}

// Every line is searched and most have no credential, so the search must be fast. In text of one
// line a sign has both its neighbors, and one of the two pairs that it is part of begins at an even
// position: evens is checked for every second pair. In text of several lines a neighbor may be a
// line break: all is checked for every pair.
var evens, all = func() (evens, all *table) {
	evens, all = new(table), new(table)
	for _, s := range signs {
		evens.mark(s.before, s.letters)
		evens.mark(s.letters, s.after)
		all.mark(s.letters, s.after)
		all.mark(s.letters, "\r\n")
	}
	return evens, all
}()

// wrapped reports whether a text has several lines.
func wrapped(b []byte) bool { return bytes.IndexByte(b, '\n') >= 0 }

// next finds the first credential at or after from.
func next(b []byte, from int, wrapped bool) (span, bool) {
	t, step, i := evens, 2, from
	if wrapped {
		t, step = all, 1
	}
	for {
		if !wrapped {
			i = quiet(b, i)
		}
		end := min(i+8, len(b)-1)
		for ; i < end; i += step {
			if t[binary.LittleEndian.Uint16(b[i:])] == 0 {
				continue
			}
			for j := i; j < i+step; j++ {
				if s, ok := at(b, from, j); ok {
					return s, true
				}
			}
		}
		if i >= len(b)-1 {
			break
		}
	}
	if i == len(b)-1 {
		return at(b, from, i)
	}
	return span{}, false
}

// quiet gives the first position from i on, in steps of eight, whose eight bytes contain a pair of
// evens, or the position of the last few bytes.
func quiet(b []byte, i int) int {
	t := evens
	for ; i+8 <= len(b); i += 8 {
		v := binary.LittleEndian.Uint64(b[i:])
		if t[uint16(v)]|t[uint16(v>>16)]|t[uint16(v>>32)]|t[uint16(v>>48)] != 0 {
			break
		}
	}
	return i
}

// at gives the credential whose sign is the byte at i, if there is one. What is before from
// was searched already.
func at(b []byte, from, i int) (span, bool) {
	switch b[i] {
	case 'J': // eyJ, LS0tLS1CRUdJTi
		if s, ok := jwt(b, from, i); ok {
			return s, true
		}
		return codedPEM(b, from, i)
	case '@': // ://user:password@
		return password(b, from, i)
	case 'V': // PRIVATE KEY
		return pem(b, from, i)
	case 'I': // AKIA, ASIA
		return aws(b, from, i)
	case 'E', 'e', 'A', 'a': // Bearer, Basic
		return scheme(b, from, i)
	case 'Z', 'z': // Authorization
		return authorization(b, from, i)
	case 'K': // ZXlK, and what k is
		if s, ok := codedJWT(b, from, i); ok {
			return s, true
		}
	}
	return key(b, from, i) // token, password, secret, api_key
}
