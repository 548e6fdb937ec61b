package scrub

import "bytes"

// random reports whether a value of at least n characters looks random: capitals, small letters
// and digits; or hexadecimal of 128 bits; or a bootstrap token. Names of
// objects, digests and UIDs of Kubernetes have no capitals, and dashes in their middle.
func random(v []byte, n int) bool {
	if len(v) < n || placeholder(v) {
		return false
	}
	upper, lower, digit, hex := classes(v)
	return upper && lower && digit || digit && hex && len(v) >= 32 || bootstrap(v)
}

// mixed is the weaker form of random for values after a key that names a secret: letters and
// digits.
func mixed(v []byte, n int) bool {
	if len(v) < n || placeholder(v) {
		return false
	}
	upper, lower, digit, _ := classes(v)
	return digit && (upper || lower) || upper && lower && len(v) >= shortHead
}

func classes(v []byte) (upper, lower, digit, hex bool) {
	hex = true
	for _, c := range v {
		switch {
		case c >= 'A' && c <= 'Z':
			upper, hex = true, hex && c <= 'F'
		case c >= 'a' && c <= 'z':
			lower, hex = true, hex && c <= 'f'
		case c >= '0' && c <= '9':
			digit = true
		default:
			hex = false
		}
	}
	return upper, lower, digit, hex
}

// bootstrap reports whether a value is a kubeadm token: six characters, a dot, sixteen.
func bootstrap(v []byte) bool {
	if len(v) != 23 || v[6] != '.' {
		return false
	}
	upper, _, digit, _ := classes(v)
	return digit && !upper && bytes.Count(v, []byte(".")) == 1 && bytes.IndexByte(v, '-') < 0
}

// path reports whether a value is the name of a file, which base64 rarely
// resembles.
func path(v []byte) bool {
	if len(v) == 0 || v[0] != '/' {
		return false
	}
	return bytes.IndexByte(v[1:min(len(v), 17)], '/') > 0
}
