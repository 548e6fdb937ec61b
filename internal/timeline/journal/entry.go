package journal

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"
)

// An Entry is one log entry. It is valid until the next call of Reader.Next.
type Entry struct {
	File          *File
	Offset        int64 // of the entry object in the file
	Seqnum        uint64
	RealtimeUsec  uint64 // since 1970
	MonotonicUsec uint64 // since the boot
	BootID        ID128
	XorHash       uint64 // of all its fields, whether given or not
	Fields        []Field
}

// A Field is one field of an entry. An entry may have several of the same name.
type Field struct {
	Name  string
	Value []byte
	Cut   bool // the value is longer than Query.MaxField
}

// Realtime gives the wall clock time at which journald received the entry, in UTC.
func (e *Entry) Realtime() time.Time { return realtime(e.RealtimeUsec) }

// Value gives the first value of a field, nil if the entry has none.
func (e *Entry) Value(name string) []byte {
	for i := range e.Fields {
		if e.Fields[i].Name == name {
			return e.Fields[i].Value
		}
	}
	return nil
}

const entryHeader = 64 // up to the items

var errEntry = errors.New("its seqnum or time is not possible")

// An entryHead is an entry object without its items.
type entryHead struct {
	object
	seqnum, realtime, monotonic uint64
	bootID                      ID128
	xorHash                     uint64
}

// entry reads the head of an entry object.
func (f *File) entry(offset uint64) (entryHead, error) {
	e, err := f.entryOnce(offset)
	if err != nil && f.stale(offset, entryHeader) {
		e, err = f.entryOnce(offset)
	}
	return e, err
}

func (f *File) entryOnce(offset uint64) (e entryHead, err error) {
	if e.object, err = f.objectOnce(offset, entryObject); err != nil {
		return e, err
	}
	b, err := f.read(e.offset, entryHeader)
	if err != nil {
		return e, err
	}
	le := binary.LittleEndian
	e.seqnum, e.realtime, e.monotonic = le.Uint64(b[16:]), le.Uint64(b[24:]), le.Uint64(b[32:])
	e.bootID, e.xorHash = ID128(b[40:]), le.Uint64(b[56:])
	if e.seqnum == 0 || e.realtime == 0 || e.realtime >= maxUsec || e.monotonic >= maxUsec {
		return e, errEntry
	}
	return e, nil
}

// An item refers to a data object. Compact files do not repeat the object's hash.
type item struct{ offset, hash uint64 }

// maxItems bounds the items of one entry. journald refuses entries of more than 1024 fields.
const maxItems = 4096

// items appends the items of an entry to dst, and says whether there are more than maxItems. In a
// file that is being written, their page may be older than that of the entry.
func (f *File) items(dst []item, e *entryHead) (out []item, more bool, err error) {
	out, err = f.itemsOnce(dst, e)
	if err == nil && slices.Contains(out[len(dst):], item{}) && f.stale(uint64(e.offset), e.size) {
		out, err = f.itemsOnce(dst, e)
	}
	return out, f.itemCount(e) > maxItems, err
}

func (f *File) itemCount(e *entryHead) int64 { return (e.size - entryHeader) / f.entryItem() }

func (f *File) itemsOnce(dst []item, e *entryHead) ([]item, error) {
	size := f.entryItem()
	n := min(f.itemCount(e), maxItems)
	if err := f.spend(n * size); err != nil {
		return dst, err
	}
	b, err := f.read(e.offset+entryHeader, n*size)
	if err != nil {
		return dst, err
	}
	le := binary.LittleEndian
	for ; len(b) > 0; b = b[size:] {
		if f.Compact {
			dst = append(dst, item{offset: uint64(le.Uint32(b))})
		} else {
			dst = append(dst, item{le.Uint64(b), le.Uint64(b[8:])})
		}
	}
	return dst, nil
}
