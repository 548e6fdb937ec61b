package scrub

import "bytes"

// shortHead is the least length of the beginning of a token whose rest was cut off: {"alg":"RS256" is longer.
const shortHead = 20

// maxParts is the number of parts of an encrypted token; signed ones have three.
const maxParts = 5

// jwt finds a JSON web token by the J of eyJ, which is how {" begins in base64. Its
// header names the signature algorithm; if it was cut off, the claims begin the same way.
func jwt(b []byte, from, i int) (span, bool) {
	start, _, ok := word(b, from, i, 2, "eyj")
	if !ok {
		return span{}, false
	}
	if opening, _ := runTo(b, start, base64url, 16); !opens(b[start:opening]) {
		return span{}, false
	}
	end, _ := runTo(b, start, base64url, maxHeadJSON)
	secret := secretJSON(b[start:end])
	if secret {
		end, _ = run(b, start, base64url)
	}
	_, letters := runTo(b, start, base64url, shortHead)
	parts := 1
	for ; parts < maxParts; parts++ {
		dot := through(b, end)
		if dot == len(b) || b[dot] != '.' {
			break
		}
		e, n := part(b, through(b, dot+1), parts)
		if n == 0 {
			break
		}
		end, letters = e, letters+n
	}
	if letters < shortHead || parts < 2 && !secret {
		return span{}, false
	}
	return span{start, end, "JWT"}, true
}

// part gives the end of a token's part that begins at i. A signature that is complete
// at a line's end does not continue on the next line.
func part(b []byte, i, number int) (end, letters int) {
	if line := over(b, i, base64url); number == 2 && signatureLength(line-i) {
		return line, line - i
	}
	return run(b, i, base64url)
}

// signatureLength reports whether a signature may have that many characters: of 32, 64, 96, 132,
// 256, 384 or 512 bytes.
func signatureLength(n int) bool {
	switch n {
	case 43, 86, 128, 176, 342, 512, 683:
		return true
	}
	return false
}

// codedJWT finds a token that was base64-encoded again, as in a Secret, by the K of ZXlK.
func codedJWT(b []byte, from, i int) (span, bool) {
	start, _, ok := word(b, from, i, 3, "zxlk")
	if !ok {
		return span{}, false
	}
	var room [maxHeadJSON]byte
	if opening, _ := runTo(b, start, base64std, 24); !opens(decode(room[:0], b[start:opening])) {
		return span{}, false
	}
	end, letters := runTo(b, start, base64std, maxHeadJSON)
	text := decode(room[:0], b[start:end])
	if !secretJSON(text) || letters < 2*shortHead {
		return span{}, false
	}
	end, _ = run(b, start, base64std)
	return span{start, over(b, end, padding), "JWT"}, true
}

// maxHeadJSON is how many characters of base64 are decoded.
const maxHeadJSON = 344

// secretJSON reports whether base64 text is the beginning of a JSON object that a token
// or a registry's credentials begin with. Much else is JSON in base64: where a list
// goes on, for instance.
func secretJSON(coded []byte) bool {
	var room [maxHeadJSON]byte
	text := decode(room[:0], coded)
	for {
		quote := bytes.IndexByte(text, '"')
		if quote < 0 || quote+1 == len(text) {
			return false
		}
		text = text[quote+1:]
		for _, w := range secretKeys[text[0]] {
			if bytes.HasPrefix(text, w) {
				return true
			}
		}
	}
}

// opens is opensObject for base64, by its first characters: it is called often and seldom true.
func opens(coded []byte) bool {
	var room [12]byte
	return opensObject(decode(room[:0], coded))
}

// opensObject reports whether a text begins with a brace and a key, or with a part of it.
func opensObject(text []byte) bool {
	if !bytes.HasPrefix(text, []byte(`{"`)) {
		return false
	}
	for i, c := range text[2:] {
		switch {
		case c == '"':
			rest := bytes.TrimLeft(text[2+i+1:], " ")
			return len(rest) == 0 || rest[0] == ':'
		case !inKey[c]:
			return false
		}
	}
	return true
}

var inKey = set(alphanumeric + "_-./:#@$ ")

// secretKeys are keys of such objects, up to their closing quote unless more may follow,
// by their first letter.
var secretKeys = func() (t [256][][]byte) {
	for _, k := range []string{
		`alg"`, `kid"`, `typ"`, `enc"`, `iss"`, `sub"`, `aud"`, `exp"`, `auth`, `password`, `passwd`, `token`, `identitytoken`, `secret"`,
	} {
		t[k[0]] = append(t[k[0]], []byte(k))
	}
	return t
}()
