package journal_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/timeline/journal"
)

// A sample is a file that is not damaged, and what is in it.
type sample struct {
	b       []byte
	entries []exported
	ranges  [][]journal.Range
	tables  int64 // end of the hash tables
	used    int64
	said    []journal.Damage // one field is cut
}

func sampled(t testing.TB, name string) *sample {
	t.Helper()
	s := &sample{b: journals(t, name)[0]}
	f := open(t, s.b)
	s.tables, s.used = f.Tables(), f.Used()
	for e := range entries(t, journal.Query{MaxField: 16 << 10}, f) {
		s.entries = append(s.entries, withoutSeqnumID(e))
		s.ranges = append(s.ranges, e.Ranges())
	}
	s.said = f.Damage()
	return s
}

// check reads a copy of the sample that is damaged in some ranges: entries that they do not touch
// must all be there, unchanged and in order, and if others are not, this must be said.
func (s *sample) check(t testing.TB, b io.ReaderAt, size int64, damaged ...journal.Range) (said []journal.Damage) {
	t.Helper()
	f, err := journal.Open(b, size)
	if err != nil {
		t.Fatalf("%v: %v", damaged, err)
	}
	var got []exported
	for e := range entries(t, journal.Query{MaxField: 16 << 10}, f) {
		got = append(got, withoutSeqnumID(e))
	}
	n, same := 0, 0
	for i, want := range s.entries {
		touched := slices.ContainsFunc(s.ranges[i], func(r journal.Range) bool {
			return slices.ContainsFunc(damaged, func(d journal.Range) bool { return d.Start < r.End && r.Start < d.End })
		})
		at := slices.IndexFunc(got[n:], func(e exported) bool { return e.cursor == want.cursor })
		if at >= 0 {
			n += at
		}
		is := at >= 0 && slices.Equal(got[n].fields, want.fields)
		if at >= 0 {
			n++
		}
		if is {
			same++
		} else if !touched {
			t.Fatalf("%v: entry %d of %d is missing or changed, %d given: %v", damaged, i, len(s.entries), len(got), f.Damage())
		}
	}
	said = slices.DeleteFunc(f.Damage(), func(d journal.Damage) bool { return slices.Contains(s.said, d) })
	if same < len(s.entries) && len(said) == 0 && !s.onlyTimes(got) {
		t.Fatalf("%v: %d of %d entries are right, %d given, and no damage is reported", damaged, same, len(s.entries), len(got))
	}
	return said
}

// withoutSeqnumID leaves out the ID that the header has for all entries.
func withoutSeqnumID(e *journal.Entry) exported {
	out := asExported(e)
	_, out.cursor, _ = strings.Cut(out.cursor, ";")
	return out
}

// onlyTimes reports whether the entries differ from those of the sample in seqnum, times, boot ID
// or xor_hash only. Nothing in a file shows that these were changed.
func (s *sample) onlyTimes(got []exported) bool {
	return slices.EqualFunc(got, s.entries, func(a, b exported) bool { return slices.Equal(a.fields, b.fields) })
}

var damagedSamples = []string{"lz4-jenkins", "zstd", "xz-compact", "killed"}

// A file that ends anywhere gives every entry before its end.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, name := range damagedSamples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sampled(t, name)
			step := int64(64)
			if testing.Short() || name == "xz-compact" { // xz is slow
				step = 64 * 37
			}
			for size := s.tables; size < s.used; size += step {
				said := s.check(t, bytes.NewReader(s.b[:size]), size, journal.Range{Start: size, End: 1 << 62})
				if !slices.ContainsFunc(said, func(d journal.Damage) bool { return d.First == size && d.Count == int(int64(len(s.b))-size) }) {
					t.Fatalf("cut at %d: %v", size, said)
				}
			}
			for size := int64(0); size < 4096; size += 64 {
				f, err := journal.Open(bytes.NewReader(s.b[:size]), size)
				if (err == nil) != (size >= 208) || err == nil && (len(read(t, journal.Query{}, f)) > 0 || len(f.Damage()) == 0) {
					t.Fatalf("cut at %d: %v, %v", size, err, f)
				}
			}
		})
	}
}

// Pages that were not written before the power failed are zeros.
func TestLostPages(t *testing.T) {
	t.Parallel()
	for _, name := range damagedSamples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sampled(t, name)
			b := bytes.Clone(s.b)
			lengths := []int64{4096, 512}
			if testing.Short() {
				lengths = lengths[:1]
			}
			for _, length := range lengths {
				for start := s.tables &^ (length - 1); start < s.used; start += length {
					lost := journal.Range{Start: start, End: start + length}
					clear(b[lost.Start:lost.End])
					s.check(t, bytes.NewReader(b), int64(len(b)), lost)
					copy(b[lost.Start:lost.End], s.b[lost.Start:lost.End])
				}
			}
		})
	}
}

// Bits that changed cost the entries that they are in, at most.
func TestBitFlips(t *testing.T) {
	t.Parallel()
	for _, name := range damagedSamples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sampled(t, name)
			b := bytes.Clone(s.b)
			random := rand.New(rand.NewPCG(1, 2))
			tries := 500
			if testing.Short() {
				tries = 50
			}
			for range tries {
				at := s.tables + random.Int64N(s.used-s.tables)
				if random.IntN(8) == 0 {
					at = 16 + random.Int64N(192) // after signature and flags
				}
				b[at] ^= 1 << random.IntN(8)
				s.check(t, bytes.NewReader(b), int64(len(b)), journal.Range{Start: at, End: at + 1})
				b[at] = s.b[at]
			}
		})
	}
}

// Where the hash table or a chain of a match is damaged, all entries are searched.
func TestMatchInDamagedFiles(t *testing.T) {
	t.Parallel()
	for _, name := range damagedSamples {
		s := sampled(t, name)
		want := matching(s.entries, kubelet)
		b := bytes.Clone(s.b)
		step := int64(1032)
		if testing.Short() {
			step *= 10
		}
		for at := s.tables; at < s.used; at += step {
			lost := journal.Range{Start: at, End: at + 8}
			for i := range b[at : at+8] {
				b[at+int64(i)] ^= 0xff
			}
			f := open(t, b)
			n := 0
			for e := range entries(t, journal.Query{Match: kubelet, MaxField: 1024}, f) {
				if i := slices.IndexFunc(want, func(w exported) bool { return w.cursor == withoutSeqnumID(e).cursor }); i >= 0 {
					n++
				}
			}
			if n < len(want) && !s.touches(want, lost) {
				t.Fatalf("%s, damaged at %d: %d of %d entries, and %v", name, at, n, len(want), f.Damage())
			}
			copy(b[at:at+8], s.b[at:at+8])
		}
	}
}

// touches reports whether damage is in one of the entries, or in a field of them.
func (s *sample) touches(some []exported, lost journal.Range) bool {
	for i, e := range s.entries {
		if !slices.ContainsFunc(some, func(x exported) bool { return x.cursor == e.cursor }) {
			continue
		}
		if slices.ContainsFunc(s.ranges[i], func(r journal.Range) bool { return lost.Start < r.End && r.Start < lost.End }) {
			return true
		}
	}
	return false
}
