package snapshotio

// What one value takes in memory when it is decoded, at most, while lists still grow. An element
// of a list is a struct, whatever its text is: 0, "" and null become one each before the decoder
// reports that they are none.
const (
	elementWeight = 640
	memberWeight  = 64 // of an object: its name may be unknown, and is kept then
)

// Weight bounds the memory that a JSON text takes when it is decoded into rows: two bytes may
// become hundreds. It reads the text once and decodes nothing. Of a text that is no JSON, which
// the decoder refuses before it allocates anything, it means nothing.
func Weight(b []byte) int {
	n := len(b)
	var nested []byte // '[' or '{'
	in := byte(0)
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				switch {
				case b[i] == '\\':
					i++
				case b[i] >= 0x80:
					n += 2 // invalid UTF-8 becomes three bytes
				}
			}
		case '[', '{':
			if c == '[' {
				n += elementWeight // of the first element
			} else {
				n += memberWeight
			}
			nested, in = append(nested, c), c
		case ']', '}':
			if len(nested) > 0 {
				nested = nested[:len(nested)-1]
			}
			in = 0
			if len(nested) > 0 {
				in = nested[len(nested)-1]
			}
		case ',':
			if in == '{' {
				n += memberWeight
			} else {
				n += elementWeight
			}
		}
	}
	return n
}
