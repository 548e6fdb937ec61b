package scrub

// aws finds the ID of an access key by the I of AKIA or ASIA.
func aws(b []byte, from, i int) (span, bool) {
	const letters = 20
	start := i - 2
	if start < from || i+1 >= len(b) || b[i+1] != 'A' || b[start] != 'A' || b[i-1] != 'K' && b[i-1] != 'S' {
		return span{}, false
	}
	end := start + over(b[start:min(len(b), start+letters+1)], 0, capitals)
	if end-start != letters || start > 0 && opaque[b[start-1]] || end < len(b) && base64url[b[end]] {
		return span{}, false
	}
	return span{start, end, "AWS key"}, true
}
