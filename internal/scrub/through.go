package scrub

// through gives the first position at or after i that is not a line break with the white space
// after it: pasted logs are wrapped in the middle of credentials.
func through(b []byte, i int) int {
	j := i
	if j < len(b) && b[j] == '\r' {
		j++
	}
	if j >= len(b) || b[j] != '\n' {
		return i
	}
	for j++; j < len(b) && (b[j] == ' ' || b[j] == '\t'); j++ {
	}
	return j
}

// back gives the last position before i that is not part of a line break and the white space
// after it, or -1.
func back(b []byte, i int) int {
	j := i - 1
	for j >= 0 && (b[j] == ' ' || b[j] == '\t') {
		j--
	}
	if j < 0 || b[j] != '\n' {
		return i - 1
	}
	if j--; j >= 0 && b[j] == '\r' {
		j--
	}
	return j
}

// run gives the end and the length of the characters of a set from i on; line breaks are not
// counted. A break belongs to the run only if characters of the set follow.
func run(b []byte, i int, letters *[256]bool) (end, n int) {
	return runTo(b, i, letters, len(b))
}

// runTo is run with at most most characters. Without a bound a long line that has no credential
// would be read again for every sign in it.
func runTo(b []byte, i int, letters *[256]bool, most int) (end, n int) {
	end = i
	for i < len(b) && n < most {
		if letters[b[i]] {
			i++
			end = i
			n++
			continue
		}
		j := through(b, i)
		if j == i || n == 0 {
			break
		}
		i = j
	}
	return end, n
}

// word reports whether b has the word want, ignoring case, with its letter number n at i, and
// gives its begin and end. want is in small letters.
func word(b []byte, from, i, n int, want string) (start, end int, ok bool) {
	for start = i; n > 0; n-- {
		start = back(b, start)
		if start < from || b[start]|0x20 != want[n-1] {
			return 0, 0, false
		}
	}
	end = start
	for n = range len(want) {
		if n > 0 {
			end = through(b, end)
		}
		if end >= len(b) || b[end]|0x20 != want[n] {
			return 0, 0, false
		}
		end++
	}
	return start, end, true
}

// over gives the first position at or after i whose character is not in the set.
func over(b []byte, i int, letters *[256]bool) int {
	for i < len(b) && letters[b[i]] {
		i++
	}
	return i
}

func set(letters string) *[256]bool {
	var t [256]bool
	for i := range len(letters) {
		t[letters[i]] = true
	}
	return &t
}

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

var (
	base64url = set(alphanumeric + "-_")
	base64std = set(alphanumeric + "+/")
	opaque    = set(alphanumeric + "-._~+/") // token68 of RFC 7235 without its padding
	capitals  = set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	spaces    = set(" \t\r\n")
	around    = set(" \t\r\n\"'\\[{(") // what may be between = or : and the value
	padding   = set("=")
)
