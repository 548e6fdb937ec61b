package scrub

const keyKind = "secret after its key"

// key finds the value after a key that names a secret, by one letter of the key.
func key(b []byte, from, i int) (span, bool) {
	switch b[i] | 0x20 {
	case 'k':
		if _, end, ok := word(b, from, i, 2, "token"); ok {
			return keyed(b, end, mixed)
		}
		if _, end, ok := word(b, from, i, 0, "key"); ok && secretKey(b, from, i) {
			if _, e, ok := word(b, from, end, 0, "-data"); ok {
				end = e
			}
			return keyed(b, end, random)
		}
	case 'w':
		for _, w := range []string{"password", "passwd"} {
			if _, end, ok := word(b, from, i, 4, w); ok {
				return keyedPassword(b, end)
			}
		}
	case 'c':
		if _, end, ok := word(b, from, i, 2, "secret"); ok {
			return keyed(b, end, random)
		}
	}
	return span{}, false
}

// secretKey reports whether the word "key" at i is part of the name of a secret: api_key,
// accessKey.
func secretKey(b []byte, from, i int) bool {
	j := i - 1
	if j >= from && (b[j] == '_' || b[j] == '-') {
		j--
	}
	for _, w := range []string{"api", "access", "secret", "private", "client", "account"} {
		if _, _, ok := word(b, from, j, len(w)-1, w); ok {
			return true
		}
	}
	return false
}

// keyed finds the value after a key that ends at end, if it looks like a secret.
func keyed(b []byte, end int, secret func([]byte, int) bool) (span, bool) {
	at, ok := sign(b, end)
	if !ok {
		if at = over(b, end, spaces); at == end { // --token abc
			return span{}, false
		}
		secret = random
	}
	start, stop := value(b, at)
	if path(b[start:stop]) || !secret(b[start:stop], shortToken) {
		return span{}, false
	}
	if s, ok := known(b, start); ok {
		if s.end == through(b, s.end) {
			s.end = max(s.end, stop)
		}
		return s, true
	}
	return span{start, stop, keyKind}, true
}

// known finds a credential at start that is recognised without a key.
func known(b []byte, start int) (span, bool) {
	const opening = 64 // characters and line breaks by which such a one is recognised
	for i := start; i < len(b) && i < start+opening; i++ {
		if b[i] != 'J' && b[i] != 'K' {
			continue
		}
		if s, ok := at(b, start, i); ok && s.start == start {
			return s, true
		}
	}
	return span{}, false
}

// sign gives the position after the = or : that follows a key, which may end with a quote.
func sign(b []byte, i int) (int, bool) {
	for i < len(b) && (b[i] == '"' || b[i] == '\'' || b[i] == '\\') {
		i++
	}
	i = over(b, i, spaces)
	if i < len(b) && (b[i] == '=' || b[i] == ':') {
		return i + 1, true
	}
	return i, false
}
