package journal

// An xorSum compares the fields of an entry with its xor_hash.
type xorSum struct {
	rest    uint64 // xor_hash without the fields so far
	parts   []uint64
	unknown bool // a field was not read to its end
}

func (s *xorSum) add(v *value) {
	s.rest ^= v.xor
	s.parts = append(s.parts, v.xor)
	s.unknown = s.unknown || v.long
}

// isRight reports whether nothing speaks against the entry. If an entry was sent with the same field
// and value twice, both count in its xor_hash, and it has one item.
func (s *xorSum) isRight() bool {
	if s.rest == 0 || s.unknown {
		return true
	}
	for _, p := range s.parts {
		if p == s.rest {
			return true
		}
	}
	return false
}
