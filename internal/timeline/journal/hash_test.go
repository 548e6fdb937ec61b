package journal

import "testing"

// Values of hashlittle2 are those that Bob Jenkins' lookup3.c gives in its own test; those of SipHash
// are from the paper of Aumasson and Bernstein.
func TestHashes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]uint64{"": 0xdeadbeef_deadbeef, "Four score and seven years ago": 0x17770551_ce7226e6} {
		if got := lookup3([]byte(in)); got != want {
			t.Errorf("lookup3(%q) = %x, want %x", in, got, want)
		}
	}
	var key ID128
	in := make([]byte, 15)
	for i := range key {
		key[i] = byte(i)
	}
	for i := range in {
		in[i] = byte(i)
	}
	if got := siphash24(in, key); got != 0xa129ca6149be45e5 {
		t.Errorf("siphash24 = %x", got)
	}
}
