package scrub

import "bytes"

const (
	pemKind = "PEM private key"
	maxPEM  = 16 << 10 // a key of 16384 bits has 13 kB as text
	maxHead = 48       // -----BEGIN OPENSSH PRIVATE KEY-----
)

var (
	dashes = []byte("-----")
	// inPEM are the characters of a block; its line breaks may be written as \n.
	inPEM = set(alphanumeric + "+/= \t\r\n\\")
)

// pem finds a private key by the V of PRIVATE, also if its beginning or end was cut off.
func pem(b []byte, from, i int) (span, bool) {
	start, end, ok := word(b, from, i, 3, "private key")
	if !ok {
		return span{}, false
	}
	if end = through(b, end); !bytes.HasPrefix(b[end:], dashes) {
		return span{}, false
	}
	end += len(dashes)
	head := max(from, start-maxHead)
	opening := bytes.LastIndex(b[head:start], dashes)
	if opening < 0 {
		return span{}, false
	}
	opening += head
	if bytes.HasPrefix(b[opening+len(dashes):], []byte("END")) {
		for opening > from && inPEM[b[opening-1]] {
			opening--
		}
		return span{opening, end, pemKind}, true
	}
	return span{opening, pemEnd(b, end), pemKind}, true
}

// pemEnd gives the end of a block whose body begins at i.
func pemEnd(b []byte, i int) int {
	body := b[i:min(len(b), i+maxPEM)]
	if closing := bytes.Index(body, []byte("-----END")); closing >= 0 {
		rest := body[closing+len("-----END"):]
		if last := bytes.Index(rest, dashes); last >= 0 && last < maxHead {
			return i + closing + len("-----END") + last + len(dashes)
		}
		return i + len(body) - len(rest)
	}
	return over(b, i, inPEM)
}

// codedPEM finds a private key that was base64-encoded again, as client-key-data is, by the J of
// LS0tLS1CRUdJTi, which is -----BEGIN. Certificates begin the same way and are not secret.
func codedPEM(b []byte, from, i int) (span, bool) {
	const opening = "ls0tls1crudjti"
	start, _, ok := word(b, from, i, 11, opening)
	if !ok {
		return span{}, false
	}
	end, letters := runTo(b, start, base64std, 2*maxHead)
	var room [maxHead]byte
	text := decode(room[:0], b[start:end])
	whole := bytes.Contains(text, []byte("PRIVATE KEY"))
	cut := letters < 4*maxHead/3 && !bytes.Contains(text, []byte("CERT"))
	if !bytes.HasPrefix(text, dashes) || !whole && !cut {
		return span{}, false
	}
	end, _ = run(b, start, base64std)
	return span{start, over(b, end, padding), pemKind}, true
}
