package journal_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/timeline/journal"
)

// A builder writes files that no writer would write.
type builder struct{ b []byte }

func newBuilder() *builder {
	b := make([]byte, 208)
	copy(b, "LPKSHHRH")
	le := binary.LittleEndian
	le.PutUint32(b[12:], withCompact|withZSTD)
	le.PutUint64(b[88:], 208)
	return &builder{b}
}

func (w *builder) object(typ, flags byte, body []byte) uint64 {
	at := uint64(len(w.b))
	w.b = append(w.b, typ, flags, 0, 0, 0, 0, 0, 0)
	w.b = binary.LittleEndian.AppendUint64(w.b, uint64(16+len(body)))
	w.b = append(w.b, body...)
	w.b = append(w.b, make([]byte, (8-len(w.b)%8)%8)...)
	return at
}

// data writes a data object that entries refer to; its hash is left out.
func (w *builder) data(flags byte, payload []byte) uint64 {
	body := make([]byte, 56)
	binary.LittleEndian.PutUint64(body[40:], 1000) // entries
	return w.object(1, flags, append(body, payload...))
}

func (w *builder) entry(seqnum int, items ...uint64) uint64 {
	body := binary.LittleEndian.AppendUint64(nil, uint64(seqnum))
	body = binary.LittleEndian.AppendUint64(body, 1_794_736_586_000_000)
	body = append(body, make([]byte, 32)...)
	for _, i := range items {
		body = binary.LittleEndian.AppendUint32(body, uint32(i))
	}
	return w.object(3, 0, body)
}

func (w *builder) array(next uint64, items ...uint64) uint64 {
	body := binary.LittleEndian.AppendUint64(nil, next)
	for _, i := range items {
		body = binary.LittleEndian.AppendUint32(body, uint32(i))
	}
	return w.object(6, 0, body)
}

func (w *builder) open(t *testing.T, entryArray uint64) *journal.File {
	t.Helper()
	binary.LittleEndian.PutUint64(w.b[176:], entryArray)
	return open(t, w.b)
}

// Entries that refer to one field again and again do not make the reader work for ever.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	w := newBuilder()
	const zstd = 4
	bomb := w.data(zstd, packed(t, append([]byte("MESSAGE="), make([]byte, 700<<10)...)))
	items := make([]uint64, 4000)
	for i := range items {
		items[i] = bomb
	}
	var offsets []uint64
	for i := range 6 {
		offsets = append(offsets, w.entry(i+1, items...))
	}
	f := w.open(t, w.array(0, offsets...))
	n, most := 0, 0
	for e := range entries(t, journal.Query{}, f) {
		n++
		given := 0
		for _, field := range e.Fields {
			given += len(field.Value)
		}
		most = max(most, given)
	}
	if n != 6 || most > 8*768<<10 || !strings.Contains(fmt.Sprint(f.Damage()), "more work than its size allows") {
		t.Errorf("%d entries, at most %d bytes, %v", n, most, f.Damage())
	}
}

// Entry arrays that lead back to themselves end, and entries that they repeat are given once.
func TestLoops(t *testing.T) {
	t.Parallel()
	w := newBuilder()
	message := w.data(0, []byte("MESSAGE=once"))
	entry := w.entry(1, message)
	at := uint64(len(w.b))
	array := w.array(at, entry, entry, entry, at, 12345, 1<<31)
	if array != at {
		t.Fatal(array, at)
	}
	f := w.open(t, array)
	got := read(t, journal.Query{}, f)
	if len(got) != 1 || len(f.Damage()) == 0 {
		t.Errorf("%v, %v", got, f.Damage())
	}
}

// A count that no memory could hold is not believed.
func TestAbsurdSizes(t *testing.T) {
	t.Parallel()
	whole := shrunk(t, journals(t, "killed")[0])
	for _, at := range []int{88, 96, 104, 112, 120, 128, 136, 144, 152, 176} { // sizes, offsets and counts of the header
		for _, v := range []uint64{1, 8, 1 << 31, 1 << 40, 1 << 62, 1<<63 - 8, 1 << 63, 1<<64 - 8, 1<<64 - 1} {
			b := bytes.Clone(whole)
			binary.LittleEndian.PutUint64(b[at:], v)
			f, err := journal.Open(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, journal.Query{MaxField: 100, Match: kubelet}, f); len(got) != 36 {
				t.Errorf("%d at %d: %d entries, %v", v, at, len(got), f.Damage())
			}
		}
	}
}
