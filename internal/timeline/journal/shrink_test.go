package journal_test

import (
	"encoding/binary"
	"testing"
)

// shrunk makes a file of megabytes small enough to be changed at random: the data hash table, which
// is most of it, gets eight buckets, and what is not used is left out. Everything moves, so every
// offset is changed.
func shrunk(t testing.TB, b []byte) []byte {
	t.Helper()
	f := open(t, b)
	const buckets = 8
	le := binary.LittleEndian
	header := le.Uint64(b[88:])
	table := le.Uint64(b[104:]) - 16 // the object of the data hash table
	size := le.Uint64(b[112:]) + 16
	gone := size - 16 - buckets*16
	move := func(p uint64) uint64 {
		if p > table {
			return p - gone
		}
		return p
	}
	m := mover{b: b, compact: f.Compact, move: move}
	out := append([]byte(nil), b[:table]...)
	out = append(out, make([]byte, 16+buckets*16)...)
	out[table] = 4
	le.PutUint64(out[table+8:], 16+buckets*16)
	out = append(out, b[table+size:f.Used()]...)
	for _, at := range []uint64{136, 176} { // tail object, entry array
		le.PutUint64(out[at:], move(le.Uint64(b[at:])))
	}
	le.PutUint64(out[96:], uint64(len(out))-header)
	le.PutUint64(out[112:], buckets*16)
	chains := [buckets][]uint64{}
	for pos := header; pos < uint64(f.Used()); {
		typ, n := b[pos], le.Uint64(b[pos+8:])
		if to := out[move(pos):]; pos != table {
			m.object(to, pos)
			if typ == 1 {
				h := le.Uint64(b[pos+16:]) % buckets
				chains[h] = append(chains[h], move(pos))
			}
		}
		pos = (pos + n + 7) &^ 7
	}
	for h, chain := range chains {
		for i, p := range chain {
			next := uint64(0)
			if i+1 < len(chain) {
				next = chain[i+1]
			}
			le.PutUint64(out[p+24:], next)
		}
		if len(chain) > 0 {
			le.PutUint64(out[table+16+uint64(h)*16:], chain[0])
			le.PutUint64(out[table+24+uint64(h)*16:], chain[len(chain)-1])
		}
	}
	return out
}

// A mover changes the offsets in objects.
type mover struct {
	b       []byte
	compact bool
	move    func(uint64) uint64
}

func (m mover) object(to []byte, pos uint64) {
	size := binary.LittleEndian.Uint64(m.b[pos+8:])
	switch m.b[pos] {
	case 1: // data: next field, entry, entry array
		m.offsets(to, pos, 32, 56, 8, false)
	case 2: // field: next hash, head data
		m.offsets(to, pos, 24, 40, 8, false)
	case 3: // entry
		if m.compact {
			m.offsets(to, pos, 64, size, 4, true)
		} else {
			m.offsets(to, pos, 64, size, 16, false)
		}
	case 5: // field hash table
		m.offsets(to, pos, 16, size, 8, false)
	case 6: // entry array
		m.offsets(to, pos, 16, 24, 8, false)
		if m.compact {
			m.offsets(to, pos, 24, size, 4, true)
		} else {
			m.offsets(to, pos, 24, size, 8, false)
		}
	}
}

func (m mover) offsets(to []byte, pos, from, end, step uint64, short bool) {
	le := binary.LittleEndian
	for i := from; i < end; i += step {
		if short {
			le.PutUint32(to[i:], uint32(m.move(uint64(le.Uint32(m.b[pos+i:])))))
		} else {
			le.PutUint64(to[i:], m.move(le.Uint64(m.b[pos+i:])))
		}
	}
}

// A file that was made smaller has the same entries, in the table and in the chains.
func TestShrunk(t *testing.T) {
	t.Parallel()
	for _, x := range fixtures {
		if x.rotate || x.writers > 1 {
			continue
		}
		b := shrunk(t, journals(t, x.name)[0])
		t.Logf("%s: %d bytes", x.name, len(b))
		compareEntries(t, read(t, everything, open(t, b)), golden(t, x.name))
		f := open(t, b)
		q := everything
		q.Match = kubelet
		compareEntries(t, read(t, q, f), matching(golden(t, x.name), kubelet))
		if len(f.Damage()) > 0 {
			t.Error(x.name, f.Damage())
		}
	}
}
